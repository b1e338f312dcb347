# A tcgen05.mma leaves D (rows x columns) in the 128 lanes of tensor memory, from column 0 on:
#
#   one block,  128 rows:  row i in lane i
#   one block,   64 rows:  16 rows in the first half of each 32 lanes: rows 0-15 in lanes 0-15, rows
#                          16-31 in lanes 32-47, and so on
#   a pair,     256 rows:  the even block has rows 0-127 as above, the odd one rows 128-255
#   a pair,     128 rows:  64 rows for each block; row i of the 64 is in lane i with the left half
#                          of its columns, and in lane 64 + i with the right half, from column 0 on
def cell_of_sum(row, column, rows, columns, blocks):
    """(block, lane, column of tensor memory, warp) of D[row, column].

    `blocks` is 1 or 2, `block` 0 for the even one. `warp` is the one of warps 0 to 3 that reaches
    the lane.
    """
    # TODO: the four cases
    # SOLUTION
    own = rows // blocks
    block, lane = divmod(row, own)
    if own == 64 and blocks == 1:
        lane = lane // 16 * 32 + lane % 16
    elif own == 64:
        half, column = divmod(column, columns // 2)
        lane += 64 * half
    return block, lane, column, lane // 32
    # END
