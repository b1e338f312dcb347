def dispatch(experts, rank, per_rank):
    """The tokens that `rank` receives, a list of (sender, index); experts[sender][index] is the
    expert of a token."""
    # TODO: all of it
    # SOLUTION
    found = []
    for sender, tokens in enumerate(experts):
        for index, expert in enumerate(tokens):
            if expert // per_rank == rank:
                found.append((expert, sender, index))
    return [(sender, index) for _, sender, index in sorted(found)]
    # END
