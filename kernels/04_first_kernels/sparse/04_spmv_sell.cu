// y = A x, fp32, for a sparse matrix A in SELL-C-sigma with C = 32: the rows are sorted by length
// within windows of sigma rows, and cut into slices of 32. Slice s has the slots starts[s] to
// starts[s + 1] - 1, its slot k of lane l at starts[s] + 32 k + l. An empty slot has the column
// -1. Lane l of slice s is row order[32 s + l], or no row where that is -1.
// The idea: ELL, one warp at a time. A slice is as wide as its own longest row.
// Limit: one row that is much longer than the rest keeps a single warp busy.
// grid (ceil(slices / 8)), block (256), dynamic shared 0

constexpr int kSlice = 32;

extern "C" __global__ void spmv_sell(const int *starts, const int *order, const int *columns,
                                     const float *values, const float *x, float *y, int slices)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int slice = i / kSlice;
    if (slice < slices) {
        float sum = 0.0f;
        for (int slot = starts[slice] + i % kSlice; slot < starts[slice + 1]; slot += kSlice) {
            const int column = columns[slot];
            if (column >= 0) {
                sum += values[slot] * x[column];
            }
        }
        const int row = order[i];
        if (row >= 0) {
            y[row] = sum;
        }
    }
}
