// y = A x, fp32, for a sparse matrix A in CSR, as in 01_spmv_rows.
// The idea: one warp per row. Its lanes read neighbouring elements, and add up by shuffles.
// Limit: a row of three elements leaves 29 lanes idle.
// grid (ceil(rows / 8)), block (256), dynamic shared 0

#include "reduce.cuh"

extern "C" __global__ void spmv_warps(const int *offsets, const int *columns, const float *values,
                                      const float *x, float *y, int rows)
{
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / kWarpSize;
    const int lane = threadIdx.x % kWarpSize;
    if (row < rows) { // the same for the whole warp
        float sum = 0.0f;
        for (int k = offsets[row] + lane; k < offsets[row + 1]; k += kWarpSize) {
            sum += values[k] * x[columns[k]];
        }
        sum = warp_sum(sum);
        if (lane == 0) {
            y[row] = sum;
        }
    }
}
