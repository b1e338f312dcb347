def diagnosis(kernel):
    """What costs the kernel of report `kernel`, "A" to "E", the most: a name, and its number.

    "uncoalesced loads"  sectors of a request that loads from global memory
    "bank conflicts"     wavefronts of an instruction that loads from shared memory
    "local memory"       sectors of a request that stores to local memory
    "divergence"         threads that take part in an instruction, on average
    "nothing"            sectors of a request that loads from global memory
    """
    # TODO: name and number for each of the five
    # SOLUTION
    if kernel == "A":
        return "bank conflicts", 10_000 / 400
    if kernel == "B":
        return "local memory", 262_144 / 8192
    if kernel == "C":
        return "nothing", 2688 / 640
    if kernel == "D":
        return "uncoalesced loads", 10_000 / 400
    return "divergence", 19.6
    # END
