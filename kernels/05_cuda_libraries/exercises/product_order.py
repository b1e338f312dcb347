from itertools import product


def product_order(parts, bits):
    """The pairs (i, j), i and j from 0 to parts - 1, in the order of their accumulation."""
    # TODO: choose the pairs, and sort them
    # SOLUTION
    kept = [(i, j) for i, j in product(range(parts), repeat=2) if 8 * (i + j) < bits]
    return sorted(kept, key=sum, reverse=True)
    # END
