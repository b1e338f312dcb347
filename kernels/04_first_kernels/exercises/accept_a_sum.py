import numpy as np


def accept_a_sum(add_up):
    """True if the kernel of add_up is right.

    add_up(x) adds up x, any NumPy array of 1 to 300,000 float32, and returns a float. A right
    kernel may add in any order, and rounds as floats do.
    """
    # TODO: call add_up with your arrays, and compare
    # SOLUTION
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 31, 32, 33, 255, 256, 257, 1000, 4099, 300_000):
        x = rng.integers(-9, 10, n).astype(np.float32)
        x[-1] = 5  # the last one counts
        if add_up(x) != x.sum(dtype=np.float64):
            return False
    return True
    # END
