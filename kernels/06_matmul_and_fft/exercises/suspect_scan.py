# TODO: the words of the checklist for what is wrong with this benchmark, as in {"burst"}
# STARTER
#| LIES = set()
# SOLUTION
LIES = {"no wait", "cold start"}
# END


def scan_ms(gpu, scan):
    """Milliseconds that the GPU takes for a run of the kernel `scan`, once everything is loaded.

    In the program that uses it, its input is in L2, as it is here. scan() launches it. gpu.time()
    is the host's clock, in seconds. gpu.synchronize() waits until the GPU has done all that was
    launched, by whomever: it may have work already.
    """
    # TODO: fix this benchmark; the true time is to come out, within 2 %
    # STARTER
    #| start = gpu.time()
    #| for _ in range(100):
    #|     scan()
    #| return 1000 * (gpu.time() - start) / 100
    # SOLUTION
    scan()
    gpu.synchronize()
    start = gpu.time()
    for _ in range(100):
        scan()
    gpu.synchronize()
    return 1000 * (gpu.time() - start) / 100
    # END
