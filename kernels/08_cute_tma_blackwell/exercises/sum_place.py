# warps_m x warps_n warps share a tile of 16 warps_m x 16 warps_n results; warp w is in row
# w % warps_m of warps and in column w // warps_m. The instruction makes 16 x 8 results, so each
# warp has two of them side by side, but not next to each other: first comes one for every column
# of warps, then the second one for every column.
def sum_place(row, column, warps_m, warps_n):
    """(thread of the block, value) that holds the result in this row and column of the tile."""
    # TODO: which warp, which lane, which of the eight values?
    # SOLUTION
    warp = row // 16 + column // 8 % warps_n * warps_m
    lane = row % 8 * 4 + column % 8 // 2
    value = column % 2 + row % 16 // 8 * 2 + column // 8 // warps_n * 4
    return 32 * warp + lane, value
    # END
