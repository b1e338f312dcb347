def owner(threads, values, by_thread, by_value, element):
    """The (thread, value) that holds the element of the tile, or (-1, -1)."""
    # TODO: which thread, and as its how-manieth value?
    # SOLUTION
    for t in range(threads[0] * threads[1]):
        start = t % threads[0] * by_thread[0] + t // threads[0] * by_thread[1]
        for v in range(values[0] * values[1]):
            if start + v % values[0] * by_value[0] + v // values[0] * by_value[1] == element:
                return t, v
    return -1, -1
    # END
