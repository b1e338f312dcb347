def chunk_plan(tokens, words, budget):
    """Chunks of tokens whose logits fit into a budget: a list of (start, stop).

    A chunk of n tokens has n * words logits in bf16, two bytes each, and they may take `budget`
    bytes, exactly that many too. All chunks but the last have the same number of tokens, the
    largest multiple of 128 that fits. The last one has what is left. If the logits of 128 tokens
    don't fit, the list is empty, however few tokens there are.
    """
    # TODO: how many tokens fit, and where does each chunk begin and end?
    # STARTER
    #| return [(0, tokens)]
    # SOLUTION
    rows = budget // (2 * words) // 128 * 128
    if rows == 0:
        return []
    return [(start, min(start + rows, tokens)) for start in range(0, tokens, rows)]
    # END
