def exchange(rank, ranks):
    """What `rank` does, in order, so that everybody gets a message from the left: a list of two,
    ("send", to whom) and ("receive", from whom). Each waits until the other side is there."""
    right, left = (rank + 1) % ranks, (rank - 1) % ranks
    # TODO: this never ends. Mend it, for any number of ranks from 2 on
    # STARTER
    #| return [("send", right), ("receive", left)]
    # SOLUTION
    steps = [("send", right), ("receive", left)]
    return steps if rank % 2 == 0 else steps[::-1]
    # END
