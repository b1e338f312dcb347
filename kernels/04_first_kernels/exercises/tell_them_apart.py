import numpy as np


def arrays():
    """One to three NumPy arrays of 1 to 2000 finite floats: every wrong kernel gives a wrong result
    for one of them, and the right ones give none."""
    # TODO: make the arrays
    # SOLUTION
    generator = np.random.default_rng(1)
    ends = -0.75 * generator.random(1100) - 0.125
    ends[-1] = -0.0625
    ties = np.zeros(512)
    ties[[207, 300, 463]] = 1.0
    return [ends, ties]
    # END
