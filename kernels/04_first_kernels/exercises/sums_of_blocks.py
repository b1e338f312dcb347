import numpy as np
from numba import cuda

THREADS = 128


@cuda.jit
def sums_of_blocks(x, sums):
    """sums[b] is the sum of the 128 elements of x that belong to block b: x[128 * b] and those
    after it, as far as x has them. x is a vector of any length, float32.
    grid ceil(x.size / 128), block 128"""
    tile = cuda.shared.array(THREADS, np.float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    # TODO: fill the tile, add its halves until one number is left, and store it
    # SOLUTION
    tile[t] = x[i] if i < x.size else np.float32(0)
    step = THREADS // 2
    while step > 0:
        cuda.syncthreads()
        if t < step:
            tile[t] += tile[t + step]
        step //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = tile[0]
    # END
