def work_and_bytes(M, N, K):
    """What a product of an M x K and a K x N matrix of fp32 costs, at best.

    A multiply-add is two FLOPs. At best each of the three matrices crosses the memory once.
    """
    # TODO: return the tuple (FLOPs, bytes, FLOPs for each byte)
    # SOLUTION
    flops = 2 * M * N * K
    least = 4 * (M * K + K * N + M * N)
    return flops, least, flops / least
    # END
