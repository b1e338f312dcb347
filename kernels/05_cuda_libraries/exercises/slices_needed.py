import math


def slices_needed(row):
    """The fewest slices of int8 that hold a row, a list of finite doubles, exactly."""
    # TODO: find the exponent of the row, then the finest bit that any number has
    # SOLUTION
    row = [x for x in row if x]
    if not row:
        return 0
    exponent = max(math.frexp(x)[1] for x in row)
    finest = min(lowest(x) for x in row)
    return 1 + max(0, -((finest - (exponent - 6)) // 7))


def lowest(x):
    """The exponent of the lowest bit of x that is 1."""
    above, below = x.as_integer_ratio()
    return (above & -above).bit_length() - below.bit_length()
    # END
