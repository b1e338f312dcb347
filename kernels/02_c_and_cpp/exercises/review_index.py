def review():
    """For each line "A" to "F" the numbers (i, columns, j) that show its fault, with i below
    100,000 and j < columns <= 100,000, or None where the line is right."""
    # TODO: review the six lines
    # STARTER
    #| return {"A": None, "B": None, "C": None, "D": None, "E": None, "F": None}
    # SOLUTION
    return {
        "A": (50_000, 50_000, 0),
        "B": (50_000, 50_000, 0),
        "C": None,
        "D": (70_000, 70_000, 0),
        "E": (65_536, 2, 0),
        "F": (5000, 4001, 3),
    }
    # END
