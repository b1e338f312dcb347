def review_the_count():
    """The faults of count_positive: {number of a line: its fault}.

    "race": a barrier is missing after this line.
    "barrier": this line keeps threads from a barrier.
    "update": this line loses updates of other threads.
    "bounds": this line goes past the end of an array.
    """
    # TODO: return your review
    # SOLUTION
    return {6: "barrier", 7: "race", 10: "update"}
    # END
