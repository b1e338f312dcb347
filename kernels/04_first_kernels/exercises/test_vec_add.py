import numpy as np


# TODO: write is_right(launch) from its first line. launch(a, b, c, n) plays a launch of some
# vec_add on float32 arrays of NumPy, each with n elements or more, and changes c. Return True if
# that vec_add is right for every n from 1 to 100,000: c[i] = a[i] + b[i] for i < n, and no other
# element of the three arrays changes. Return False if it isn't.
# SOLUTION
def is_right(launch):
    """Whether this vec_add adds n elements and changes nothing else."""
    rng = np.random.default_rng(1)
    for n in (1, 31, 256, 1000, 100_000):
        a, b, c = rng.standard_normal((3, n + 1024), dtype=np.float32)
        a_before, b_before, expected = a.copy(), b.copy(), c.copy()
        expected[:n] = a[:n] + b[:n]
        launch(a, b, c, n)
        for after, before in ((a, a_before), (b, b_before), (c, expected)):
            if not np.array_equal(after, before):
                return False
    return True


# END
