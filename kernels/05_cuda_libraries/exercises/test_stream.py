import numpy as np


# TODO: write is_right(draw) from its first line. draw(seed, start, n) returns numbers start to
# start + n - 1 of the stream of that seed, as a float32 array: uniform, above 0 and at most 1. A
# seed is an integer from 0 to 2^63 - 1, a start one from 0 to 2^40, and n one from 1 to 20,000.
# Each seed has its own stream, of more than 2^40 numbers, and a call doesn't depend on the calls
# before it. Return True if that draw keeps its promise, False if it doesn't.
# SOLUTION
def is_right(draw):
    """Whether parts agree with the whole, streams differ, and numbers look random."""
    streams = []
    for seed in (1, 2):
        for start in (0, 2**33 + 5):
            whole = draw(seed, start, 20_000).copy()
            if whole.shape != (20_000,) or not (whole.min() > 0 and whole.max() <= 1):
                return False
            counts = np.bincount((whole * 100).astype(int).clip(0, 99), minlength=100)
            if np.abs(counts - 200).max() > 90:
                return False
            if abs(((whole[1:] - 0.5) * (whole[:-1] - 0.5)).mean()) > 0.005:
                return False
            if len(np.unique(whole)) < 19_000:
                return False
            for first, n in ((0, 1), (1, 7), (3, 1001), (19_990, 10)):
                part = draw(seed, start + first, n)
                if not np.array_equal(part, whole[first : first + n]):
                    return False
            streams.append(whole)
    pairs = [(a, b) for i, a in enumerate(streams) for b in streams[:i]]
    return not any(len(np.intersect1d(a, b)) > 1000 for a, b in pairs)


# END
