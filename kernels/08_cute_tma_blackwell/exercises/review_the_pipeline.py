def review_the_pipeline():
    """The faults of weighted_columns: {number of a line: its fault}. A fault is one of

    "bytes": this line expects a wrong number of bytes
    "count": this line makes a barrier count the wrong arrivals
    "start": this line begins in the wrong phase
    "advance": after this line a state should advance, and doesn't
    """
    # TODO: return your review
    # SOLUTION
    return {8: "bytes", 11: "count", 17: "start", 29: "advance"}
    # END
