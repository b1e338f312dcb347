# A block has one producer warpgroup and `consumers` consumer warpgroups, 128 threads each, and a
# multiprocessor has 65,536 registers. At launch each thread of the block gets as many as there are
# for it, in steps of 8, at most 248. Then the producer keeps `kept` for each thread (a multiple of
# 8, fewer than it has), and the consumers share what it frees: in steps of 8, at most 248.
# The consumers share a tile of `rows` x `columns` sums of 32 bits, each sum in one register.
def register_plan(consumers, kept, rows, columns):
    """For each thread: (registers at launch, of a consumer later, of these for other than sums)."""
    # TODO: setmaxnreg can hand out what it has freed, and no more
    # SOLUTION
    launched = min(65536 // (128 * (consumers + 1)) // 8 * 8, 248)
    consumer = min((launched * (consumers + 1) - kept) // consumers // 8 * 8, 248)
    return launched, consumer, consumer - rows * columns // (128 * consumers)
    # END
