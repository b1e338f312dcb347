# TODO: write waves(blocks, multiprocessors, blocks_each) from its first line. It returns the pair
# (waves, slots of the last wave that stay empty) of a grid of equal blocks. Each multiprocessor
# has room for blocks_each blocks at a time.
# SOLUTION
def waves(blocks, multiprocessors, blocks_each):
    """How a grid of equal blocks fills a GPU: (waves, empty slots in the last wave)."""
    slots = multiprocessors * blocks_each
    waves = (blocks + slots - 1) // slots
    return waves, waves * slots - blocks


# END
