def shows_at(change):
    """An n, from 1 to 100,000, with which the kernel is wrong after `change` ("A" to "E"), or None
    where the change is right."""
    # TODO: review the five changes
    # SOLUTION
    return {"A": 40_000, "B": 1000, "C": None, "D": 256, "E": None}[change]
    # END
