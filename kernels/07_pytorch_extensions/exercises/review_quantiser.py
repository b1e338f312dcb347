def review_quantiser():
    """The faults of quantise_rows: {number of a line: its fault}.

    A fault is one of "race" (a barrier is missing after this line), "barrier" (not all threads
    reach a barrier because of this line), "range" (codes that don't fit into a signed char come
    from this line), "rounding" (this line cuts off where it should round) and "bounds" (this line
    goes past the end of an array).
    """
    # TODO: return your review
    # SOLUTION
    return {7: "race", 9: "barrier", 13: "range", 16: "rounding"}
    # END
