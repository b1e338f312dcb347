def conv_work(N, C, K, H, W, side):
    """What a convolution of N images of C channels with K filters costs in fp32, at best.

    A filter is side x side, the stride is 1, and zeros around each image make a result of H x W.
    """
    # TODO: return the tuple (FLOPs, least bytes, bytes of the matrix that holds, for each pixel of
    #       a result, a copy of all pixels that it needs)
    # SOLUTION
    flops = 2 * N * K * H * W * C * side**2
    least = 4 * (N * C * H * W + K * C * side**2 + N * K * H * W)
    matrix = 4 * (C * side**2) * (N * H * W)
    return flops, least, matrix
    # END
