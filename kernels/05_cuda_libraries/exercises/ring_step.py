def ring_step(rank, ranks, step):
    """What `rank` does in a `step` of the ring, from 0 to 2 * ranks - 3: the chunk that it sends to
    the right, the chunk that it receives from the left, and whether it adds."""
    # TODO: (sends, receives, adds), for any rank at any step
    # STARTER
    #| return rank, rank - 1, True
    # SOLUTION
    sends = (rank - step) % ranks
    receives = (sends - 1) % ranks
    return sends, receives, step < ranks - 1
    # END
