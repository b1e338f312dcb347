def traffic(operations, sizes, kernels):
    """The bytes that kernels move. operations maps the name of each result to the names that it is
    computed from, sizes maps each name to its bytes, and kernels lists the results of each kernel.
    The last result of the last kernel is the answer; every other one is wanted only where a later
    kernel reads it."""
    # TODO: for each kernel, add what it reads from outside and what it has to write
    # STARTER
    #| return 0
    # SOLUTION
    total = 0
    for number, kernel in enumerate(kernels):
        read = {name for result in kernel for name in operations[result]} - set(kernel)
        later = {name for other in kernels[number + 1 :] for r in other for name in operations[r]}
        later.add(kernels[-1][-1])
        total += sum(sizes[name] for name in read | (set(kernel) & later))
    return total
    # END
