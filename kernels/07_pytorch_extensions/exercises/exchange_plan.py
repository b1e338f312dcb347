def exchange_plan(chosen, ranks, experts):
    """How many token rows each rank sends to each other: a list of `ranks` lists.

    chosen: for each rank the list of its tokens, each a list of the token's experts. Rank r has
    experts r * (experts // ranks) to (r + 1) * (experts // ranks) - 1. A token travels once to a
    rank, no matter how many of its experts are there. sent[r][s] counts rows from r to s, where s
    is r as well.
    """
    # TODO: count the rows of each pair of ranks
    # STARTER
    #| return [[0] * ranks for _ in range(ranks)]
    # SOLUTION
    sent, own = [[0] * ranks for _ in range(ranks)], experts // ranks
    for rank, tokens in enumerate(chosen):
        for token in tokens:
            for target in {expert // own for expert in token}:
                sent[rank][target] += 1
    return sent
    # END
