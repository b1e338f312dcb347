def review_pairs():
    """The faults of keep_pairs: {number of a line: its fault}.

    The faults are
    - "start": this line's first value can be larger than every logit of a tile
    - "edge": this line lets in words that don't exist
    - "range": this line's exponentials can overflow
    - "type": this line keeps too few digits, or too few bits
    - "race": a barrier is missing after this line
    """
    # TODO: return your review
    # SOLUTION
    return {4: "start", 6: "edge", 11: "range", 16: "type"}
    # END
