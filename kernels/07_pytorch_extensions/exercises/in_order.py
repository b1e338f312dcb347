def in_order(parents, end):
    """All values that the value `end` depends on, and itself: each once, and after its parents.

    A value is a number, and parents[value] a tuple of those that it was made of: empty for a leaf,
    with the same one twice for x * x. Returns a list. Of several right orders any will do.
    """
    # TODO: return the list, for a chain of any length too
    # SOLUTION
    order, seen, stack = [], set(), [(end, False)]
    while stack:
        value, parents_done = stack.pop()
        if parents_done:
            order.append(value)
        elif value not in seen:
            seen.add(value)
            stack.append((value, True))
            for parent in parents[value]:
                stack.append((parent, False))
    return order
    # END
