from numba import cuda


@cuda.jit
def weighted_columns(x, w, y):
    """y[row, column] = x[row, column] * w[column], for float32 matrices of any size, row-major.
    grid (ceil(columns / 32), ceil(rows / 8)) or larger, block (32, 8)"""
    # BUG
    #| row, column = cuda.grid(2)
    # SOLUTION
    column, row = cuda.grid(2)
    # END
    if row < x.shape[0] and column < x.shape[1]:
        y[row, column] = x[row, column] * w[column]
