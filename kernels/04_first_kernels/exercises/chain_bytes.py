def chain_bytes(n, links):
    """Bytes that a chain of kernels moves: (each link a kernel, all links fused into one).

    The arrays have n floats of 4 bytes. `links` has an entry for each link: the names of the arrays
    that it reads besides the result of the link before, as in [("x",), (), ("x", "bias")]. Every
    link but the first reads that result, and every link writes one of its own.
    """
    # TODO: count the arrays read and written in each case; the fused kernel reads none twice
    # SOLUTION
    separate = 0
    for k, names in enumerate(links):
        read = len(names) + (1 if k > 0 else 0)
        separate += read + 1
    different = {name for names in links for name in names}
    fused = len(different) + 1
    return 4 * n * separate, 4 * n * fused
    # END
