// y += A^T x for a sparse matrix A in CSR, all numbers unsigned: row r of A has the elements
// offsets[r] to offsets[r + 1] - 1 of `columns` and `values`, and y has one number per column of A.
// Sums wrap around. Rows may have any length, 0 too, and a column may come in any rows.
// grid (ceil(rows / 256)), block (256), dynamic shared 0

extern "C" __global__ void flipped_product(const int *offsets, const int *columns,
                                           const unsigned *values, const unsigned *x, unsigned *y,
                                           int rows)
{
    // TODO: y += A^T x, without a transposed copy of A
    // SOLUTION
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        for (int k = offsets[row]; k < offsets[row + 1]; ++k) {
            atomicAdd(&y[columns[k]], values[k] * x[row]);
        }
    }
    // END
}
