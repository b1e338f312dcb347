def review_the_count():
    """The faults of count_positive: {number of a line: its fault}.

    A fault is one of "race" (a barrier is missing after this line), "barrier" (not all threads
    reach the barrier because of this line), "update" (this line loses updates of other threads)
    and "bounds" (this line goes past the end of an array).
    """
    # TODO: return your review
    # SOLUTION
    return {6: "barrier", 7: "race", 10: "update"}
    # END
