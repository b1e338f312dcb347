# How many arrivals complete a phase of a stage's `empty`, in CUTLASS's PipelineTmaAsync?
# `consumers` is Params::num_consumers, the consumer threads of one block; a cluster has `down` x
# `across` blocks, and TMA multicasts tiles along its rows and columns.
#   - One block: consumer_release is an arrival of every thread that calls it.
#   - A larger cluster: a warpgroup arrives once, at each block that shares a tile with its own:
#     those in its row and in its column of the cluster, itself included. Part of a warpgroup counts
#     as one.
def empty_arrivals(consumers, down, across):
    """The count with which the pipeline makes `empty`."""
    # TODO: both cases
    # SOLUTION
    if down * across == 1:
        return consumers
    return (down + across - 1) * ((consumers + 127) // 128)
    # END
