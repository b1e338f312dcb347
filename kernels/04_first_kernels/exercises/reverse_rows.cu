// Reverses every row of a matrix, by way of shared memory: y[row][c] = x[row][columns - 1 - c].
// One block takes one row; columns is at most 256.
// grid (rows), block (256), dynamic shared 0

constexpr int kBlock = 256;

extern "C" __global__ void reverse_rows(const float* x, float* y, int columns)
{
    __shared__ float tile[kBlock];
    const int column = threadIdx.x;
    const int first = blockIdx.x * columns;
    // BUG
    //| if (column < columns) {
    //|     tile[column] = x[first + column];
    //|     __syncthreads();  // no thread reads before all have written
    //|     y[first + column] = tile[columns - 1 - column];
    //| }
    // SOLUTION
    if (column < columns) {
        tile[column] = x[first + column];
    }
    __syncthreads();  // no thread reads before all have written
    if (column < columns) {
        y[first + column] = tile[columns - 1 - column];
    }
    // END
}
