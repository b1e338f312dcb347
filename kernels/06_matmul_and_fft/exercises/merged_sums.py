import numpy as np


def merged_sums(largest, sums):
    """The pair (largest, sum) of a whole row, as an array of two, from the pairs of its pieces.

    `sums[i]` is the sum of exp(v - largest[i]) over the numbers v of piece i. A piece whose numbers
    are all minus infinity, or that has none, is (minus infinity, 0), and so is a row of such
    pieces. There is one piece at least.
    """
    # TODO: merge the pieces; minus infinity less minus infinity is NaN
    # SOLUTION
    top = largest.max()
    if top == -np.inf:
        return np.array([top, 0.0])
    return np.array([top, (sums * np.exp(largest - top)).sum()])
    # END
