// y = A x, fp32, for a sparse matrix A in CSR: row r has the elements offsets[r] to
// offsets[r + 1] - 1 of `columns` and `values`. Any number of rows, any lengths, empty rows too.
// The idea: one thread per row.
// Limit: neighbouring threads read elements that are a whole row apart, and a warp is as slow as
// its longest row.
// grid (ceil(rows / 256)), block (256), dynamic shared 0

extern "C" __global__ void spmv_rows(const int *offsets, const int *columns, const float *values,
                                     const float *x, float *y, int rows)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0.0f;
        for (int k = offsets[row]; k < offsets[row + 1]; ++k) {
            sum += values[k] * x[columns[k]];
        }
        y[row] = sum;
    }
}
