def kernels_of(chain):
    """The kernels that a chain of operations becomes: a list of lists of names. chain has pairs
    (name, kind) with the kinds "map", "reduce" and "product"."""
    # TODO: write it
    # STARTER
    #| return [[name for name, kind in chain]]
    # SOLUTION
    kernels, open_kernel = [], False
    for name, kind in chain:
        if kind == "product" or not open_kernel:
            kernels.append([])
        kernels[-1].append(name)
        open_kernel = kind == "map"
    return kernels
    # END
