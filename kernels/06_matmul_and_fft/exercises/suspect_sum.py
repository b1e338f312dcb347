from statistics import median

# TODO: the words of the checklist for what is wrong with this benchmark, as in {"burst"}
# STARTER
#| LIES = set()
# SOLUTION
LIES = {"dirty cache", "one run"}
# END


def sum_ms(gpu, add_up):
    """Milliseconds that the kernel `add_up` takes for a sum of 40 MB in memory.

    An event is a mark in the queue, after all earlier launches; gpu.elapsed_ms(start, end)
    is the time from one to another, once the GPU has reached both. gpu.write_256_mb() and
    gpu.read_256_mb() do what they say, with arrays of their own; L2 has room for 50 MB.
    """
    add_up()
    gpu.synchronize()
    # TODO: fix the rest of this benchmark; the true time is to come out, within 2 %
    # STARTER
    #| gpu.write_256_mb()
    #| start = gpu.event()
    #| add_up()
    #| end = gpu.event()
    #| gpu.synchronize()
    #| return gpu.elapsed_ms(start, end)
    # SOLUTION
    times = []
    for _ in range(31):
        gpu.write_256_mb()
        gpu.read_256_mb()
        start = gpu.event()
        add_up()
        end = gpu.event()
        gpu.synchronize()
        times.append(gpu.elapsed_ms(start, end))
    return median(times)
    # END
