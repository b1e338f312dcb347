# The layout NC/vHWv: the channels of a pixel are cut into vectors of v neighbours. In memory the
# axes follow each other, slowest first: image, vector of channels, row, column, channel in the
# vector. If v does not divide C, the last vector of every pixel is filled up.
def vector_place(C, H, W, v, n, c, h, w):
    """The place in memory, in elements, of channel c of the pixel (h, w) of image n."""
    # TODO: with v = 1 this is NCHW, and with v = C it is NHWC
    # SOLUTION
    vectors = -(-C // v)
    vector, lane = divmod(c, v)
    return (((n * vectors + vector) * H + h) * W + w) * v + lane
    # END
