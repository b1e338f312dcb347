// y = A x, fp32, for a sparse matrix A in ELL: `width` slots per row, slot k of row r at
// k * rows + r. An empty slot has the column -1.
// The idea: one thread per row, and what neighbouring threads read is side by side.
// Limit: every row has as many slots as the longest.
// grid (ceil(rows / 256)), block (256), dynamic shared 0

extern "C" __global__ void spmv_ell(const int *columns, const float *values, const float *x,
                                    float *y, int rows, int width)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0.0f;
        for (int k = 0; k < width; ++k) {
            const size_t slot = (size_t)k * rows + row;
            const int column = columns[slot];
            if (column >= 0) {
                sum += values[slot] * x[column];
            }
        }
        y[row] = sum;
    }
}
