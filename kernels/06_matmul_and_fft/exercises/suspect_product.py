from statistics import median

# TODO: the words of the checklist for what is wrong with this benchmark, as in {"no wait"}
# STARTER
#| LIES = set()
# SOLUTION
LIES = {"burst", "picked run"}
# END


def burst_ms(gpu, run):
    """The median time of 20 runs, in milliseconds."""
    times = []
    for _ in range(20):
        start = gpu.event()
        run()
        end = gpu.event()
        gpu.synchronize()
        times.append(gpu.elapsed_ms(start, end))
    return median(times)


def times_as_fast(gpu, ours, theirs):
    """How many times as fast as `theirs` is `ours`, for a program that runs one of them for hours?

    ours() and theirs() launch a product each, of some milliseconds and of matrices far larger than
    L2. The GPU has had a rest. When it computes, it comes to its limit of power within a second,
    and its clock wanders up and down.
    """
    # TODO: fix this benchmark; the true ratio is to come out, within 2 %
    # STARTER
    #| best = min(burst_ms(gpu, ours), burst_ms(gpu, ours))
    #| return burst_ms(gpu, theirs) / best
    # SOLUTION
    means = []
    for run in (ours, theirs):
        for seconds in (1, 3):  # the first one does not count: it may come after a rest
            start, count = gpu.time(), 0
            while gpu.time() - start < seconds:
                run()
                gpu.synchronize()
                count += 1
        means.append((gpu.time() - start) / count)
    return means[1] / means[0]
    # END
