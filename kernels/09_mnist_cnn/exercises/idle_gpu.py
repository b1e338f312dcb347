def idle_gpu(kernels):
    """How much of the time a GPU works, from what a profiler saw of it.

    kernels is a list of (start, end) in microseconds, at least one, in any order; those of two
    streams may overlap. Returns (the share of the time from the first start to the last end in
    which at least one kernel runs, the longest time between in which none does).
    """
    # TODO: return both, as floats
    # SOLUTION
    kernels = sorted(kernels)
    first, until = kernels[0][0], kernels[0][0]
    idle, longest = 0.0, 0.0
    for start, end in kernels:
        gap = max(start - until, 0.0)
        idle, longest = idle + gap, max(longest, gap)
        until = max(until, end)
    return 1 - idle / (until - first), longest
    # END
