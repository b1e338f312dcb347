# A block computes a tile of BM x BN of C with `groups` consumer warpgroups and a loading thread. A
# stage has 64 columns of its rows of A and of its rows of B, elements of 2 bytes. The blocks of a
# cluster have tiles one below the other: each loads its own rows of A, and its equal part of the
# rows of B for all blocks. When a warpgroup has read a stage, it arrives once at the barrier of
# every block that loads into it.
def barrier_counts(BM, BN, groups, blocks):
    """For one stage of one block: (bytes that `full` expects, arrivals that end a phase of `empty`,
    bytes that all blocks of the cluster together load from global memory)."""
    # TODO: which blocks write into this stage, and which groups read the stages that this block
    # writes into?
    # SOLUTION
    row = 64 * 2
    return (BM + BN) * row, groups * blocks, (blocks * BM + BN) * row
    # END
