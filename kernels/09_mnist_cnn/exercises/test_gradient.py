import numpy as np


# TODO: write is_right(layer) from its first line. layer(x) takes a float64 array of 1 to 50
# numbers of about 1, and returns y, an array of any length, and a function: back(dy) takes an
# array of y's length and returns the gradient of (y * dy).sum() for each number of x. y has no
# kinks, and a right gradient has all of its digits. Return True if back is right for every x and
# dy, at each call, and doesn't change dy. Return False if it isn't.
# SOLUTION
def is_right(layer):
    """Whether a layer's gradient agrees with its slopes, number by number."""
    rng = np.random.default_rng(1)
    for n in (1, 2, 7, 40):
        x = rng.standard_normal(n)
        y, back = layer(x)
        dy = rng.standard_normal(y.shape)
        given = dy.copy()
        claimed = back(dy).copy()
        if not np.array_equal(dy, given) or not np.array_equal(claimed, back(dy)):
            return False
        tolerance = 1e-4 * (1 + np.abs(claimed).max())
        for i in range(n):
            step = np.zeros(n)
            step[i] = 1e-6
            above, below = ((layer(x + s * step)[0] * dy).sum() for s in (1, -1))
            measured = (above - below) / 2e-6
            if not abs(measured - claimed[i]) <= tolerance:
                return False
    return True


# END
