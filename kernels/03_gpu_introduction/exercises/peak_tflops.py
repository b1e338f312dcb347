def peak_tflops(multiprocessors, lanes, gigahertz):
    """The most TFLOP/s that a GPU can reach with fused multiply-adds.

    Every multiprocessor has `lanes` lanes, and each finishes one fused multiply-add in every clock
    cycle. There are `gigahertz` billion cycles in a second.
    """
    # TODO: multiply what there is; mind what an FMA counts for, and giga against tera
    # SOLUTION
    flops_per_cycle = 2 * multiprocessors * lanes
    return flops_per_cycle * gigahertz / 1000
    # END
