def looked_back(words):
    """The sum of all tiles before this one, or None if the tile has to ask again.

    `words` has one entry for each tile before, tile 0 first: ("A", sum) for an aggregate,
    ("P", sum) for a prefix, and None where a tile has published nothing. There is one tile at
    least, and tile 0 never publishes an aggregate.
    """
    # TODO: one look at the words, from the nearest tile back
    # SOLUTION
    total = 0
    for word in reversed(words):
        if word is None:
            return None
        total += word[1]
        if word[0] == "P":
            return total
    return None
    # END
