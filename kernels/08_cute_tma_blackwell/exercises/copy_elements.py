def copy_elements(threads, by_thread, values, by_value, thread):
    """The elements (row, column) of the tile that ``thread`` moves, a list in the values' order."""
    # TODO: where is the thread in its arrangement, and where is each value in its own?
    # SOLUTION

    def places(shape, stride):
        return {
            i * stride[0] + j * stride[1]: (i, j) for i in range(shape[0]) for j in range(shape[1])
        }

    down, across = places(threads, by_thread)[thread]
    held = places(values, by_value)
    return [
        (down * values[0] + held[v][0], across * values[1] + held[v][1])
        for v in range(values[0] * values[1])
    ]
    # END
