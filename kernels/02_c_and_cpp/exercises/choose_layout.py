# TODO: write choose_layout(n, sizes, uses) from its first line. n elements have fields of these
# `sizes` in bytes, without padding between them. A use is (way, used, times): the way "all" is a
# loop over all elements, "one" a look at a single element that is in no cache, `used` are the
# indices of the fields it uses, at least one, and it happens `times` times. A loop brings n
# structs, or n elements of each field used. A look brings whole lines of 64 bytes: those of its
# struct, which begins at a line, or one for each field used. Return ("structs", bytes) or
# ("arrays", bytes), for the fewer bytes, and in a tie "structs".
# SOLUTION
LINE = 64


def ceil_div(a, b):
    return -(-a // b)


def choose_layout(n, sizes, uses):
    """The layout that brings fewer bytes from memory for these uses, and their number."""
    structs = arrays = 0
    whole = sum(sizes)
    for way, used, times in uses:
        if way == "all":
            structs += times * n * whole
            arrays += times * n * sum(sizes[field] for field in used)
        else:
            look = LINE * ceil_div(whole, LINE)
            look_arrays = LINE * len(used)
            structs += times * look
            arrays += times * look_arrays
    return ("structs", structs) if structs <= arrays else ("arrays", arrays)


# END
