def band_order(number, tiles_m, tiles_n, band):
    """The tile (row, column) of C that block `number` takes; C has tiles_m x tiles_n tiles.

    `band` rows of tiles are visited together: down the first column of the band, down the next, and
    so on to the last; then comes the band below. The last band may have fewer rows.
    """
    # TODO: this is the order of the rows, one after the other. Visit them in bands
    # STARTER
    #| return number // tiles_n, number % tiles_n
    # SOLUTION
    first = number // (band * tiles_n) * band
    height = min(band, tiles_m - first)
    inside = number - first * tiles_n
    return first + inside % height, inside // height
    # END
