// Which linear index does each thread of one block touch, in an array with `columns` columns?
// The idea: do it both ways, x along the row (x_is_column) and x down the column (x_is_row), and
// keep the answers in the order in which the threads are numbered.
// Limit: none that matters; it only shows indices.
// grid (1), block (32, 4), dynamic shared 0

extern "C" __global__ void places_2d(int *x_is_column, int *x_is_row, int columns)
{
    int thread = threadIdx.y * blockDim.x + threadIdx.x;
    x_is_column[thread] = threadIdx.y * columns + threadIdx.x;
    x_is_row[thread] = threadIdx.x * columns + threadIdx.y;
}
