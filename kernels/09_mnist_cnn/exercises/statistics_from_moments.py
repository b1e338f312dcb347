import numpy as np


def statistics_from_moments(w, S, G, M):
    """Mean, variance and 1 / sqrt(variance + 1e-5) of the results of each of F filters, from the
    moments of its inputs: three rows of F numbers, in float64.

    w is F x 9 in fp32. S has 9 and G has 9 x 9 whole numbers (int64), in units of 2^-32: the sums
    of the pixels under each tap, and of the products of two, over the M places of the filter.
    """
    # TODO: no pixel is needed
    # SOLUTION
    w = w.astype(np.float64)
    of_tap, of_two = S / 2.0**32 / M, G / 2.0**32 / M
    mean = w @ of_tap
    covariance = of_two - np.outer(of_tap, of_tap)
    variance = np.maximum(np.einsum("ft,ts,fs->f", w, covariance, w), 0.0)
    return np.stack([mean, variance, 1 / np.sqrt(variance + 1e-5)])
    # END
