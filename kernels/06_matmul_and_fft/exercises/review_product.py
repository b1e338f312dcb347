def review_product():
    """The faults of product: {number of a line: its fault}. A fault is one of

    "bounds": this line compares with a wrong extent
    "conflict": this line reads words of one bank
    "exit": after this line threads are missing
    "race": after this line nothing keeps a tile from being overwritten while it is read
    "stride": this line takes the row length of another matrix
    "uncoalesced": threads of a warp are in different rows
    """
    # TODO: return your review
    # SOLUTION
    return {7: "exit", 11: "bounds", 13: "race", 15: "stride"}
    # END
