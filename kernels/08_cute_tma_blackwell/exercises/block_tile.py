def block_tile(shape, stride, tile, block):
    """(offset, rows, columns) of the tile that local_tile gives the block (down, across)."""
    # TODO: where the tile begins, and how much of it lies inside the matrix
    # SOLUTION
    first = [extent * number for extent, number in zip(tile, block, strict=True)]
    offset = sum(place * step for place, step in zip(first, stride, strict=True))
    rows, columns = (min(tile[mode], shape[mode] - first[mode]) for mode in (0, 1))
    return offset, rows, columns
    # END
