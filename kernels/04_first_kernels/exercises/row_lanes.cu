// y = A x, fp32, for a sparse matrix A in CSR with `rows` rows: row r has the elements offsets[r] to
// offsets[r + 1] - 1 of `columns` and `values`. Rows may have any length, 0 too: at most
// 2^29 rows, and fewer than 2^31 - 8 elements.
// Eight neighbouring lanes share a row, and their loads are neighbours too.
// grid (ceil(rows / 32)), block (256), dynamic shared 0

extern "C" __global__ void row_lanes(const int *offsets, const int *columns, const float *values,
                                     const float *x, float *y, int rows)
{
    // TODO: y = A x, with eight lanes for each row
    // SOLUTION
    constexpr int kLanes = 8;
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / kLanes;
    const int lane = threadIdx.x % kLanes;
    float sum = 0.0f;
    if (row < rows) {
        for (int k = offsets[row] + lane; k < offsets[row + 1]; k += kLanes) {
            sum += values[k] * x[columns[k]];
        }
    }
    for (int distance = kLanes / 2; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(0xffffffff, sum, distance, kLanes);
    }
    if (row < rows && lane == 0) {
        y[row] = sum;
    }
    // END
}
