def nested_offset(coordinate, shape, stride):
    """The offset that the layout shape:stride gives the coordinate."""
    # TODO: three cases, of which two call this function again
    # SOLUTION
    if isinstance(shape, int):
        return coordinate * stride
    if isinstance(coordinate, tuple):
        modes = zip(coordinate, shape, stride, strict=True)
        return sum(nested_offset(part, mode, step) for part, mode, step in modes)

    def count(part):
        if isinstance(part, int):
            return part
        total = 1
        for inner in part:
            total *= count(inner)
        return total

    offset = 0
    for mode, step in zip(shape, stride, strict=True):
        size = count(mode)
        offset += nested_offset(coordinate % size, mode, step)
        coordinate //= size
    return offset
    # END
