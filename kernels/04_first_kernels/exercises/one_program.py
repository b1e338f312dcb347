import numpy as np


def one_program(x, row, columns, block):
    """What program `row` of softmax_row stores: `columns` numbers. x has all rows, one after
    another; it is read at an array of indices, by no slice. block is how many offsets the program
    has: a power of two that is not below columns."""
    column = np.arange(block)
    # TODO: say which columns exist; give the program `block` values, of which only those that
    # exist are read from x; then the softmax over all of them. Return the part that is stored.
    # STARTER
    #| return x[column]
    # SOLUTION
    inside = column < columns
    index = row * columns + column
    value = np.full(block, -np.inf)
    value[inside] = x[index[inside]]
    power = np.exp(value - value.max())
    return (power / power.sum())[inside]
    # END
