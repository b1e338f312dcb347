import numpy as np


def one_program(x, row, columns, block):
    """What program `row` of softmax_row stores: `columns` numbers. x has all rows, one after
    another; it is read at an array of indices, by no slice. block is how many offsets the program
    has: a power of two that is not below columns."""
    # TODO: offsets and mask, the masked load, the softmax, and the part that is stored
    # SOLUTION
    column = np.arange(block)
    inside = column < columns
    index = row * columns + column
    value = np.full(block, -np.inf)
    value[inside] = x[index[inside]]
    power = np.exp(value - value.max())
    return (power / power.sum())[inside]
    # END
