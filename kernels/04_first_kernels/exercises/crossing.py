def crossing(ends, d):
    """(row, element): where the merge path is after d steps, d from 0 to len(ends) + ends[-1].

    Row r of a sparse matrix ends before element ends[r], and the matrix has ends[-1] elements. The
    path begins at (0, 0). A step ends the row if all its elements are added, and adds the next
    element otherwise. `ends` counts how often it is read.
    """
    # TODO: row + element is d, so only the row is left to find
    # STARTER
    #| return 0, d
    # SOLUTION
    low, high = max(d - ends[-1], 0), min(d, len(ends))
    while low < high:
        row = (low + high) // 2
        if ends[row] < d - row:  # the row has ended before this diagonal
            low = row + 1
        else:
            high = row
    return low, d - low
    # END
