# TODO: write choose_tile(m, n, sms, tiles) from its first line. C has m x n results, `tiles` is a
# list of (rows, columns, rate): an SM with such a tile makes `rate` results a microsecond. Each
# of `sms` SMs works on one tile at a time, and tiles at the edge of C take as long as whole ones.
# Return ((rows, columns), microseconds) of the tile with the shortest time, in a tie of the one
# with more results, and of equals the first.
# SOLUTION
def ceil_div(a, b):
    return -(-a // b)


def choose_tile(m, n, sms, tiles):
    """The tile that finishes first, and its microseconds."""
    best = None
    for down, across, rate in tiles:
        blocks = ceil_div(m, down) * ceil_div(n, across)
        rounds = ceil_div(blocks, sms)
        time = rounds * down * across / rate
        key = time, -down * across
        if best is None or key < best[0]:
            best = key, (down, across)
    return best[1], best[0][0]


# END
