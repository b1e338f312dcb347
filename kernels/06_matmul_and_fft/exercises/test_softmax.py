import numpy as np


# TODO: write is_right(softmax) from its first line. softmax(x) takes a float32 array of rows x
# columns and returns a new one: exp(x) of each number, divided by the sum of its row. Any 1 to 64
# rows and 1 to 4096 columns, any numbers that are finite or -inf, and in each row one or more
# that are finite. Return True if that softmax is right, with a relative error of 0.1 % at most
# (or an absolute one of 1e-12), False if it isn't. It must not change x.
# SOLUTION
def is_right(softmax):
    """Whether this softmax is right, for several shapes and kinds of rows."""
    rng = np.random.default_rng(1)
    for rows, columns in ((1, 1), (2, 31), (3, 4096), (40, 100)):
        for masked in (False, True):
            x = rng.standard_normal((rows, columns)).astype(np.float32) * 3
            x[0] = x[0] * 0 + 1000 + np.arange(columns) % 7
            x[-1] -= 500
            if masked:
                x[:, : columns // 2] = -np.inf
            given = x.copy()
            wide = x.astype(np.float64)
            expected = np.exp(wide - wide.max(axis=1, keepdims=True))
            expected = expected / expected.sum(axis=1, keepdims=True)
            y = softmax(x)
            if not np.array_equal(x, given) or y.shape != x.shape:
                return False
            error = np.abs(y - expected)
            if not (error <= 1e-3 * expected + 1e-12).all():
                return False
    return True


# END
