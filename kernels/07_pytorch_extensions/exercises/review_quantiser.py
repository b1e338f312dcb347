def review_quantiser():
    """The faults of quantise_rows: {number of a line: its fault}.

    The faults are
    - "race": a barrier is missing after this line
    - "barrier": because of this line some threads don't reach a barrier
    - "range": this line makes codes that don't fit into a signed char
    - "rounding": this line cuts off where it should round
    - "bounds": this line goes past the end of an array
    """
    # TODO: return your review
    # SOLUTION
    return {7: "race", 9: "barrier", 13: "range", 16: "rounding"}
    # END
