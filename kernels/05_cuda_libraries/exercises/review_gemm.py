# Review forward, the function of the task. review() returns a dictionary with an entry for each
# mistake, {line: word}. The words are
#   "beta"               the old result takes part
#   "handle"             something dear is made again and again
#   "status"             a failed call of the library goes unnoticed here
#   "extents"            extents of the product have changed places
#   "leading dimension"  the row length of another matrix
#   "offset"             the beginning of a matrix is somewhere else
#   "op"                 a matrix is transposed, or should be
# TODO: {5: "op", 9: "offset"} would be two mistakes, in lines 5 and 9
# SOLUTION
def review():
    """The mistakes of forward: line and word."""
    found = {3: "beta", 8: "handle", 10: "status"}
    return found | {11: "extents", 12: "leading dimension", 14: "offset"}


# END
