# C has tiles_m x tiles_n tiles. They are taken band by band: a band has `band` rows of tiles, and
# in it the tiles are taken column by column, from the top down. The last band may have fewer rows.
def tile_in_band(number, tiles_m, tiles_n, band):
    """(row, column) of tile `number`, counted from 0."""
    # TODO: which band, how many rows it has, and the place in it
    # SOLUTION
    head = number // (band * tiles_n) * band
    rows = min(band, tiles_m - head)
    column, row = divmod(number - head * tiles_n, rows)
    return head + row, column
    # END
