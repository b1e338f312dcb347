import numpy as np


def row_scales(x):
    """The scale of each row of x, a matrix of finite fp32 numbers."""
    # BUG
    #| largest = x.max(axis=1)
    #| return largest / 448
    # SOLUTION
    largest = np.abs(x).max(axis=1)
    return np.where(largest > 0, largest / 448, 1)
    # END
