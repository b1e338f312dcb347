# TODO: write least_time(flops, moved, peak, bandwidth) from its first line. It returns the pair
# (least seconds, "memory" or "compute") for FLOPs to be done and bytes to be moved, where the
# machine does peak FLOP/s and moves bandwidth bytes/s, both at the same time. In a tie the word
# is "compute".
# SOLUTION
def least_time(flops, moved, peak, bandwidth):
    """The least seconds a kernel can take, and what sets them: "memory" or "compute"."""
    computing, moving = flops / peak, moved / bandwidth
    return max(computing, moving), "memory" if moving > computing else "compute"


# END
