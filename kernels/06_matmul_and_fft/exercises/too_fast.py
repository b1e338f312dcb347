def too_fast(flops, moved, ms, peak_flops, bandwidth, cache):
    """Which limit of the GPU a measured time breaks: "arithmetic", "memory", "cache" or, none, "".

    The work does `flops` operations and moves at least `moved` bytes; `ms` is what a benchmark says
    it takes. `peak_flops` and `bandwidth` (bytes of its memory) are a second's, `cache` is the size
    of L2 in bytes.
    """
    # TODO: "arithmetic" if there were more operations a second than the GPU can do. Otherwise, if
    # more bytes a second moved than its memory can move: "cache" where they fit into L2 and may
    # have come from there, and "memory" where they do not
    # STARTER
    #| return ""
    # SOLUTION
    seconds = ms / 1000
    if flops / seconds > peak_flops:
        return "arithmetic"
    if moved / seconds > bandwidth:
        return "cache" if moved <= cache else "memory"
    return ""
    # END
