import numpy as np


# TODO: write is_right(layer_norm) from its first line. layer_norm(x, weight, bias, eps) takes
# float32 arrays of NumPy, x of rows x columns, weight and bias of columns, and returns a new
# float32 array: (x - mean) / sqrt(variance + eps) * weight + bias, row by row, where the variance
# is the mean of the squared distances. Any rows and columns from 1 on, any eps above 0, and a mean
# up to 1000 times the spread. Return True if that layer_norm is right to 1 % of the largest result,
# False if it isn't.
# SOLUTION
def is_right(layer_norm):
    """Whether this layer_norm is right, for several shapes, means and eps."""
    rng = np.random.default_rng(1)
    for rows, columns, mean, eps in (
        (3, 100, 0, 1e-5),
        (2, 257, 1000, 1e-5),
        (5, 7, -2, 0.5),
        (1, 2, 3, 1e-5),
        (2, 1, 4, 0.1),
        (40, 33, 0, 1e-5),
        (2, 3000, 0, 1e-5),
    ):
        x = rng.standard_normal((rows, columns)) * rng.uniform(0.5, 2, (rows, 1)) + mean
        x = x.astype(np.float32)
        weight, bias = rng.standard_normal((2, columns)).astype(np.float32)
        if columns == 7:
            x[1] = 6  # all of a row equal: a variance of 0
        given = x.copy(), weight.copy(), bias.copy()
        wide = x.astype(np.float64)
        distance = wide - wide.mean(axis=1, keepdims=True)
        expected = distance / np.sqrt((distance**2).mean(axis=1, keepdims=True) + eps)
        expected = expected * weight + bias
        first = layer_norm(x, weight, bias, eps)
        kept = first.copy()
        layer_norm(2 * x + 1, weight, bias, eps)
        if not all(map(np.array_equal, (x, weight, bias), given)):
            return False
        if not np.array_equal(first, kept, equal_nan=True) or first.shape != x.shape:
            return False
        if not np.abs(first - expected).max() <= 0.01 * np.abs(expected).max():
            return False
    return True


# END
