def least_time(flops, moved, peak, bandwidth):
    """The least seconds a kernel can take, and what sets them: "memory" or "compute".

    `flops` are to be done and `moved` bytes to be moved; the machine does `peak` FLOP/s at most and
    moves `bandwidth` bytes/s at most, both at the same time.
    """
    # TODO: return the two as a tuple, (seconds, word); in a tie the word is "compute"
    # SOLUTION
    computing, moving = flops / peak, moved / bandwidth
    return max(computing, moving), "memory" if moving > computing else "compute"
    # END
