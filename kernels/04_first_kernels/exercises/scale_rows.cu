// y[r][c] = x[r][c] / mean of row r, for a matrix of rows x columns floats, with two kernels that are
// launched one after the other: the second begins when the first has ended. Takes any shape.
// grid (ceil(rows / 64)) or more, block (64), dynamic shared 0 for row_mean
// grid (ceil(columns / 16), ceil(rows / 16)) or more, block (16, 16), shared 0 for divide_by_mean

extern "C" __global__ void row_mean(const float* x, float* mean, int rows, int columns)
{
    // TODO: one thread adds up one row of x and stores its mean
    // SOLUTION
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0.0f;
        for (int column = 0; column < columns; ++column) {
            sum += x[row * columns + column];
        }
        mean[row] = sum / columns;
    }
    // END
}

extern "C" __global__ void divide_by_mean(
    const float* x, const float* mean, float* y, int rows, int columns)
{
    // TODO: one thread stores one element of y
    // SOLUTION
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows && column < columns) {
        y[row * columns + column] = x[row * columns + column] / mean[row];
    }
    // END
}
