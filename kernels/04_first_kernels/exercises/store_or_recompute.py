def store_or_recompute(n, moved, stored, extra, flops, bandwidth, peak):
    """Choose for a backward pass over n elements: (choice, seconds if stored, if recomputed).

    Both ways move `moved` bytes an element. "store" adds `stored` bytes an element that the forward
    pass writes and the backward pass reads. "recompute" reads `extra` bytes an element instead and
    does `flops` operations an element. `bandwidth` is in bytes and `peak` in operations per second;
    memory and arithmetic work at the same time.
    """
    # TODO: the seconds of each way by the roofline, and the choice; if they are equal, "recompute"
    # SOLUTION
    store = n * (moved + 2 * stored) / bandwidth
    recompute = max(n * (moved + extra) / bandwidth, n * flops / peak)
    return ("store" if store < recompute else "recompute", store, recompute)
    # END
