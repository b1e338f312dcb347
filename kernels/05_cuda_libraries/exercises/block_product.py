import numpy as np


def block_product(a, a_scales, b, b_scales):
    """The product (M, N) of two matrices of codes, each with a scale for each of its blocks."""
    # TODO: all of it
    # SOLUTION
    w, h = a.shape[1] // a_scales.shape[1], len(b) // len(b_scales)
    C = np.zeros((len(a), len(b)))
    for k in range(a_scales.shape[1]):
        block = slice(k * w, (k + 1) * w)
        of_b = np.repeat(b_scales[:, k], h)
        C += a[:, block] @ b[:, block].T * a_scales[:, k, None] * of_b
    return C
    # END
