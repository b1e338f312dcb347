import numpy as np


def tame(x):
    """x, divided by its largest magnitude where that is above 1."""
    peak = np.abs(x).max()
    # BUG
    #| if peak > 1:
    #|     return x / peak
    #| return x
    # SOLUTION
    return x / np.maximum(peak, 1)
    # END
