# TODO: write choose_epilogue(memory, stage, epilogue, steps, product, latency, store) from its
# first line. `memory` bytes of shared memory hold stages of `stage` bytes. A tile takes `steps`
# steps of `product` ns. A load takes `latency` ns, of which (stages - 1) * product are hidden,
# and the rest, if any, is added to each step. With `epilogue` bytes set aside, the epilogue runs
# beside the next tile. Otherwise it takes the stages' memory, and its `store` ns are added to
# each tile. At least one stage fits either way. Return ("own", ns of a tile) or ("stages", ns of
# a tile), for the shorter one, and in a tie "own".
# SOLUTION
def choose_epilogue(memory, stage, epilogue, steps, product, latency, store):
    """Where the epilogue keeps its tile, and the nanoseconds of a tile."""

    def tile(stages):
        wait = max(0, latency - (stages - 1) * product)
        return steps * (product + wait)

    own = tile((memory - epilogue) // stage)
    shared = tile(memory // stage) + store
    return ("own", own) if own <= shared else ("stages", shared)


# END
