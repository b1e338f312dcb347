def coalesced_layouts(tile, by_rows, threads, element):
    """(thread shape, thread stride, value shape, value stride) of a tiled copy."""
    # TODO: 16 bytes of neighbours per thread, and the next thread takes the next 16 bytes
    # SOLUTION
    count = 16 // element
    along = tile[1] if by_rows else tile[0]
    in_line = min(along // count, threads)
    lines = threads // in_line
    if by_rows:
        return (lines, in_line), (in_line, 1), (1, count), (0, 1)
    return (in_line, lines), (1, in_line), (count, 1), (1, 0)
    # END
