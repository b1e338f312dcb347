# With a causal mask query i sees the keys 0 to i, of `tokens` keys. A block has the BM queries from
# first_query on, as many of them as exist, and meets keys in tiles of BN, the first tile at key 0.
def causal_tiles(first_query, BM, BN, tokens):
    """(tiles with a key that a query of the block sees, tiles of these that need a mask: those with
    a place whose key one of these queries does not see, be it hidden or not there)."""
    # TODO: count both
    # SOLUTION
    seen = -(-min(first_query + BM, tokens) // BN)
    return seen, seen - (first_query + 1) // BN
    # END
