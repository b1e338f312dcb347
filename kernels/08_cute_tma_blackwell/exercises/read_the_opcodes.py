def missing_order(kernel):
    """What kernel "A" to "E" lacks, and how many instructions are unordered without it.

    "nothing"         0
    "proxy fence"     TMA stores that may miss earlier writes to shared memory
    "expected bytes"  TMA loads that no barrier waits for
    "wait for loads"  loads from tensor memory whose registers are read too early
    """
    # TODO: a name and a number for each of the five
    # SOLUTION
    if kernel == "B":
        return "proxy fence", 4
    if kernel == "C":
        return "expected bytes", 2
    if kernel == "D":
        return "wait for loads", 8
    return "nothing", 0
    # END
