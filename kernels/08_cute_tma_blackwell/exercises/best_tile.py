# A block's tile of C is BM x BN. For each step of 64 along K it fetches (BM + BN) * 64 elements of
# 2 bytes, and makes 2 * BM * BN * 64 FLOPs. `stages` steps lie in shared memory at once, and
# `blocks` blocks share a multiprocessor that has `room` bytes.
def best_tile(tiles, stages, blocks, room):
    """The (BM, BN) that fits and has the most FLOPs a byte, the first of equals; None if none."""
    # TODO: which fit, and which of them is best?
    # SOLUTION
    fits = [(m, n) for m, n in tiles if blocks * stages * (m + n) * 64 * 2 <= room]
    return max(fits, key=lambda tile: tile[0] * tile[1] / sum(tile), default=None)
    # END
