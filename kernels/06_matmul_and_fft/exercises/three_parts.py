import numpy as np


def three_parts(parts):
    """The transform of x, 3 m points, from those of x[0::3], x[1::3] and x[2::3]: parts (3, m)."""
    m = parts.shape[1]
    # TODO: point k of the result is the sum over r of exp(-2 pi i r k / n) parts[r, k % m], with
    #       n = 3 m and k from 0 to n - 1. There is no need to transform anything.
    # SOLUTION
    n = 3 * m
    k = np.arange(n)
    return sum(np.exp(-2j * np.pi * r * k / n) * parts[r, k % m] for r in range(3))
    # END
