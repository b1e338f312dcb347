"""Philox 4x32-10 in NumPy: the reference for kernels/common/philox.cuh.

Salmon, Moraes, Dror and Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3", 2011.
"""

import numpy as np

from course_utils import ceil_div

LOW = np.uint64(0xFFFFFFFF)
FACTORS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
STEPS_OF_KEY = 0x9E3779B9, 0xBB67AE85
ROUNDS = 10


def philox(seed: int, subsequence: np.ndarray, block: np.ndarray | int = 0) -> np.ndarray:
    """The four 32-bit numbers of each subsequence from 4 * block on, as a row of uint32 each."""
    subsequence = np.asarray(subsequence, np.uint64)
    block = np.broadcast_to(np.asarray(block, np.uint64), subsequence.shape)
    x, y, z, w = block & LOW, block >> 32, subsequence & LOW, subsequence >> 32
    for turn in range(ROUNDS):
        keys = (((seed >> 32 * i) + turn * STEPS_OF_KEY[i]) & int(LOW) for i in (0, 1))
        by_x, by_z = FACTORS[0] * x, FACTORS[1] * z  # 64 bits, of which both halves are used
        first, second = map(np.uint64, keys)
        x, y, z, w = by_z >> 32 ^ y ^ first, by_z & LOW, by_x >> 32 ^ w ^ second, by_x & LOW
    return np.stack([x, y, z, w], axis=-1).astype(np.uint32)


def uniform(bits: np.ndarray) -> np.ndarray:
    """32 random bits as an fp32 number above 0 and up to 1, as cuRAND makes it."""
    return bits.astype(np.float32) * np.float32(2**-32) + np.float32(2**-33)


def kept(n: int, keep: float, seed: int, offset: int = 0, streams: int | None = None) -> np.ndarray:
    """Which of n elements dropout keeps, each with a chance of ``keep``. Four neighbours share a
    block of Philox: group g is turn g // streams of subsequence g % streams; without ``streams``
    each group has its own."""
    groups = np.arange(ceil_div(n, 4))
    turn, stream = np.divmod(groups, streams or len(groups))
    return (uniform(philox(seed, stream, offset // 4 + turn)) < np.float32(keep)).ravel()[:n]
