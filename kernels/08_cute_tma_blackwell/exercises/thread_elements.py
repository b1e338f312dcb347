def thread_elements(tile, threads, by, thread):
    """The positions (row, column) in the tile that local_partition gives ``thread``, a list."""
    # TODO: where is the thread in the layout threads:by? It also has every position that is whole
    # arrangements of threads further down or across
    # SOLUTION
    row = next(
        i for i in range(threads[0]) for j in range(threads[1]) if i * by[0] + j * by[1] == thread
    )
    column = (thread - row * by[0]) // by[1] if threads[1] > 1 else 0
    return [
        (i, j) for j in range(column, tile[1], threads[1]) for i in range(row, tile[0], threads[0])
    ]
    # END
