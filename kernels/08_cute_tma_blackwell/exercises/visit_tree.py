# An epilogue as a tree. Each node is a tuple, its operation first:
#   ("sums",)               the accumulators, a list of rows
#   ("scalar", x)           one number for all
#   ("row", values)         one number for each column
#   ("column", values)      one number for each row
#   ("plus", left, right)   ("times", left, right)   ("relu", child)   of nodes
def visit_tree(tree, sums):
    """The rows that the epilogue stores, of the shape of `sums`."""

    # TODO: the value of a node at one position, from its children's values
    # SOLUTION
    def at(node, i, j):
        operation, *rest = node
        if operation == "sums":
            return sums[i][j]
        if operation == "scalar":
            return rest[0]
        if operation == "row":
            return rest[0][j]
        if operation == "column":
            return rest[0][i]
        values = [at(child, i, j) for child in rest]
        if operation == "plus":
            return values[0] + values[1]
        if operation == "times":
            return values[0] * values[1]
        return max(values[0], 0)

    return [[at(tree, i, j) for j in range(len(row))] for i, row in enumerate(sums)]
    # END
