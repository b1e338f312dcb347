# x_shape is (N, C, H, W), w_shape (K, channels of one group, R, S). pad, stride and dilation are
# pairs: for rows, for columns. As many zeros lie on either side of an image. With a dilation of d
# the taps of a filter are d pixels apart.
def conv_shape(x_shape, w_shape, pad, stride, dilation, groups):
    """The shape (N, K, OH, OW) of the result, (0, 0, 0, 0) where there is no such convolution."""
    # TODO: the filter starts at every stride-th place at which it fits into the padded image. The
    #       groups share out the channels and the filters equally
    # SOLUTION
    N, C, *image = x_shape
    K, channels, *taps = w_shape
    if channels * groups != C or K % groups:
        return 0, 0, 0, 0
    sides = []
    for n, r, p, s, d in zip(image, taps, pad, stride, dilation, strict=True):
        room = n + 2 * p - (d * (r - 1) + 1)
        if room < 0:
            return 0, 0, 0, 0
        sides.append(room // s + 1)
    return N, K, *sides
    # END
