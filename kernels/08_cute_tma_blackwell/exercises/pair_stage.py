# A pair of blocks computes 256 x `columns` of D with a scale for each block of numbers along K. A
# stage of its ring holds 128 bytes along K of each row: 128 numbers of MXFP8, 256 of NVFP4. In each
# block that is
#
#   A       128 rows, its own half
#   B       columns / 2 rows, its own half
#   scales  of its 128 rows of A, and of all `columns` rows of B: 4 in a row for MXFP8 (one for 32
#           numbers), 16 for NVFP4 (one for 16); a byte each, in tiles of 128 rows by 4 scales, 512
#           bytes. Less than 128 rows still take whole tiles.
#
# tcgen05.cp brings each tile of scales into four columns of tensor memory. The accumulators have
# `columns` of its 512 columns. A stage begins at a multiple of 1024 bytes.
def pair_stage(form, columns, shared):
    """(bytes, scale_columns, stages) of a ring for `form` "mxfp8" or "nvfp4".

    `bytes` are those of a stage in one block, `scale_columns` the columns of tensor memory that its
    scales fill, and `stages` is how many fit at most, into `shared` bytes (a multiple of 1024) and
    into the columns.
    """
    # TODO: the three numbers
    # SOLUTION
    tiles = (1 if form == "mxfp8" else 4) * (1 + -(-columns // 128))
    numbers = (128 + columns // 2) * 128
    size, scale_columns = numbers + 512 * tiles, 4 * tiles
    apart = -(-size // 1024) * 1024
    return size, scale_columns, min(shared // apart, (512 - columns) // scale_columns)
    # END
