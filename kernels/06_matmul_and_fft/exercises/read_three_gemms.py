def limit(kernel):
    """What limits kernel "A", "B" or "C": a name, and its clocks for each clock of the FMAs.

    "FMA units"      1.0
    "issue slots"    clocks in which instructions are issued
    "shared memory"  clocks of wavefronts
    "global memory"  clocks of sectors
    """
    # TODO: name and number for each of the three
    # SOLUTION
    if kernel == "A":
        return "shared memory", 104_448 / 16_384
    if kernel == "B":
        return "shared memory", 111_414 / 53_248
    return "issue slots", 254_925 / 4 / 53_248
    # END
