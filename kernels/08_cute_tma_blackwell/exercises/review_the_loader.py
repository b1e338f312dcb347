def review_the_loader():
    """The faults of column_sums: {number of a line: its fault}. A fault is one of

    "fence": after this line the barrier isn't made ready for TMA
    "bytes": this line expects a wrong number of bytes
    "phase": this line waits for a wrong phase
    "reuse": after this line nothing keeps TMA from writing over the tile while it is read
    """
    # TODO: return your review
    # SOLUTION
    return {6: "fence", 10: "bytes", 13: "phase", 14: "reuse"}
    # END
