def patches(height, width, side, step):
    """(shape, stride) of a layout of two modes: the taps of a patch, and the patches."""
    # TODO: each mode has two numbers, rows first: ((side, side), (down, across))
    # SOLUTION
    down, across = (height - side) // step + 1, (width - side) // step + 1
    return ((side, side), (down, across)), ((width, 1), (step * width, step))
    # END
