import numpy as np


def three_parts(x):
    """The three bf16 parts of each number of x (n), as fp32 (3, n), the largest first."""

    # TODO: all of it
    # SOLUTION
    def rounded(x):
        bits = x.view(np.uint32)
        return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)

    rest, parts = np.where(np.isfinite(x), x, 0).astype(np.float32), []
    for _ in range(3):
        parts.append(rounded(rest))
        rest = rest - parts[-1]
    parts[0] = np.where(np.isfinite(x), parts[0], x)
    return np.array(parts)
    # END
