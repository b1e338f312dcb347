def all_reduce_us(ranks, nbytes, latency_us, gb_per_s):
    """Microseconds of an all-reduce by a ring, and by a tree: (ring, tree)."""
    # TODO: steps times what a step takes: latency_us, and its bytes at gb_per_s, 10^9 in a second
    # STARTER
    #| return latency_us, latency_us
    # SOLUTION
    us_per_byte = 1e6 / (gb_per_s * 1e9)
    levels = (ranks - 1).bit_length()
    ring = 2 * (ranks - 1) * (latency_us + nbytes / ranks * us_per_byte)
    tree = 2 * levels * (latency_us + nbytes * us_per_byte)
    return ring, tree
    # END
