def picked(fatbinary, gpu):
    """Which code of a fatbinary a GPU runs: its name, or "none".

    `gpu` is a compute capability times ten, such as 86 for 8.6. The names in `fatbinary` are
    "sm_80" (machine code for 8.0) or "compute_80" (PTX for 8.0), each perhaps with an "a" behind it
    ("sm_90a"). Machine code runs on GPUs with the same major number and the same or a larger minor
    one. PTX can be compiled for any GPU of the same or a larger capability. What ends with an "a"
    is for that capability alone. Machine code is preferred to PTX; among several that fit, the one
    for the largest capability is taken, and of two for the same one that with the "a".
    """
    # TODO: write it
    # SOLUTION
    best = (-1, -1, False, "none")
    for name in fatbinary:
        kind, _, version = name.partition("_")
        exact = version.endswith("a")
        made_for = int(version.rstrip("a"))
        if exact:
            fits = made_for == gpu
        elif kind == "sm":
            fits = made_for // 10 == gpu // 10 and made_for <= gpu
        else:
            fits = made_for <= gpu
        if fits:
            best = max(best, (int(kind == "sm"), made_for, exact, name))
    return best[3]
    # END
