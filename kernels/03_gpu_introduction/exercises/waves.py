def waves(blocks, multiprocessors, blocks_each):
    """How a grid of equal blocks fills a GPU: (waves, idle places in the last wave).

    Each of the `multiprocessors` has room for `blocks_each` blocks at a time.
    """
    # TODO: how many blocks can run at a time? Return two whole numbers.
    # SOLUTION
    places = multiprocessors * blocks_each
    waves = (blocks + places - 1) // places
    return waves, waves * places - blocks
    # END
