def read_the_counters(report):
    """The kind of access that wastes most: a key of `report`, or "none".

    `report` maps "global loads", "global stores", "shared loads" and "shared stores" to a
    profiler's counts: "requests", the "bytes" that all threads asked for, and "sectors" of 32
    bytes, or for shared memory "wavefronts" of 128 bytes. A kind that doesn't occur has zeros.
    """
    # TODO: return the kind that moves most bytes for each byte asked for, or "none" if no kind
    # moves more than 1.25
    # SOLUTION
    worst, most = "none", 1.25
    for kind, counted in report.items():
        moved = 32 * counted.get("sectors", 0) + 128 * counted.get("wavefronts", 0)
        if moved > most * counted["bytes"]:
            worst, most = kind, moved / counted["bytes"]
    return worst
    # END
