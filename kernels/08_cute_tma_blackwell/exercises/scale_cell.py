# A matrix has `blocks` blocks in each row, and a scale of one byte for each. In memory they are in
# tiles of 128 rows by 4 blocks, 512 bytes; the tiles of 128 rows lie one after the other, then come
# those of the next 128 rows; the last tile of a row may have room for blocks that do not exist. In
# a tile the rows r, r + 32, r + 64 and r + 96 are neighbours, four bytes of each: 16 bytes, after
# which those of r + 1 follow.
#
# tcgen05.cp (.32x128b.warpx4) brings each tile of 128 rows to four columns of tensor memory, the
# first to columns 0 to 3, the next to 4 to 7. Its 16 bytes number i go to lane i, and again to
# lanes 32 + i, 64 + i and 96 + i; byte 0 is the lowest one of a column's word.
#
# A product takes `count` scales of each row: 1 (MXFP8), 2 (MXFP4) or 4 (NVFP4).
def scale_cell(row, block, blocks, warp, count):
    """(place, lane, column, byte, product) of the scale of a row's block.

    `place`: its byte in memory. `lane`, `column`, `byte`: where warp 0 to 3 finds it in tensor
    memory, when all tiles of these 128 rows have been copied. `product`: which product takes it.
    """
    # TODO: the five numbers
    # SOLUTION
    tiles = -(-blocks // 4)
    tile = row // 128 * tiles + block // 4
    place = 512 * tile + row % 32 * 16 + row % 128 // 32 * 4 + block % 4
    column = block // 4 * 4 + row % 128 // 32
    return place, 32 * warp + row % 32, column, block % 4, block // count
    # END
