def waves(blocks, multiprocessors, blocks_each):
    """How a grid of equal blocks fills a GPU: (waves, idle slots in the last wave).

    Each of the `multiprocessors` has room for `blocks_each` blocks at a time.
    """
    # TODO: how many blocks can run at a time? Return two whole numbers.
    # SOLUTION
    slots = multiprocessors * blocks_each
    waves = (blocks + slots - 1) // slots
    return waves, waves * slots - blocks
    # END
