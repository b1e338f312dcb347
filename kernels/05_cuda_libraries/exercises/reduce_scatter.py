def reduce_scatter(wire, buffers):
    """Return a list: piece r of the sum of all buffers for rank r. buffers[r] is rank r's."""
    ranks = len(buffers)
    piece = len(buffers[0]) // ranks
    # TODO: with wire.send(source, target, floats) and wire.receive(target, source), such that no
    # rank sends or receives more than ranks - 1 pieces. buffers stay as they are
    # SOLUTION
    mine = [buffer.copy() for buffer in buffers]
    for step in range(ranks - 1):
        for rank in range(ranks):
            first = (rank - step - 1) % ranks * piece
            wire.send(rank, (rank + 1) % ranks, mine[rank][first : first + piece])
        for rank in range(ranks):
            first = (rank - step - 2) % ranks * piece
            mine[rank][first : first + piece] += wire.receive(rank, (rank - 1) % ranks)
    return [mine[rank][rank * piece : (rank + 1) * piece] for rank in range(ranks)]
    # END
