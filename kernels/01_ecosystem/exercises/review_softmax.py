def review():
    """For each version "A" to "F" of the softmax a row that shows its fault, as a list of 1 to 4096
    numbers from -1000 to 1000, or None where the version is right."""
    # TODO: review the six versions
    # STARTER
    #| return {"A": None, "B": None, "C": None, "D": None, "E": None, "F": None}
    # SOLUTION
    return {"A": [100, 0], "B": [200, 0], "C": None, "D": [0, 0, 0], "E": [-200, -201], "F": None}
    # END
