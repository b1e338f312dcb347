def tile_table(counts, rows):
    """The tiles of a grouped product, in order: a list of (expert, first row, end).

    counts: how many rows each expert has, one expert's rows after the other's. rows: at most so
    many are in a tile. A tile has rows of one expert alone, and `end` is where that expert's rows
    end, not the tile's. An expert without rows has no tile.
    """
    # TODO: list the tiles of each expert
    # STARTER
    #| return []
    # SOLUTION
    table, begin = [], 0
    for expert, count in enumerate(counts):
        end = begin + count
        table += [(expert, first, end) for first in range(begin, end, rows)]
        begin = end
    return table
    # END
