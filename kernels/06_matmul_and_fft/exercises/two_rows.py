import numpy as np


def two_rows(Z):
    """The transforms of two real rows a and b, from Z, the transform of a + i b; as one array."""
    # TODO: a real row's transform has A[n - k] = conj(A[k]). So Z[k] = A[k] + i B[k], and the
    #       conjugate of Z[n - k] is A[k] - i B[k]. Return np.stack((A, B)).
    # SOLUTION
    mirrored = np.conj(np.roll(Z[::-1], 1))
    A = (Z + mirrored) / 2
    B = (Z - mirrored) / 2j
    return np.stack((A, B))
    # END
