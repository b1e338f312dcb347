# Two warpgroups share a tile of C, 128 rows high: the first computes rows 0 to 63, the second the
# others. Each has its 64 rows from wgmma.m64n256k16: a thread has 128 sums, sum[0] to sum[127].
def accumulator_holder(row, column):
    """Who has the sum of (row, column): (warpgroup, thread of the group, number of the sum)."""
    # TODO: a warp has 16 rows, and four lanes eight columns of a row
    # SOLUTION
    group, row = divmod(row, 64)
    thread = row // 16 * 32 + row % 8 * 4 + column % 8 // 2
    return group, thread, column // 8 * 4 + row % 16 // 8 * 2 + column % 2
    # END
