// rstd = 1 / sqrt(mean of the squares + eps) of each row of x, rows x columns of bf16; rstd is
// fp32. A warp a row.
// grid (ceil(rows / 8)), block (256), dynamic shared 0

#include <cuda_bf16.h>

constexpr int kWarpSize = 32;
constexpr unsigned kWholeWarp = 0xffffffff;

extern "C" __global__ void bf16_row_norms(const __nv_bfloat16 *x, float *rstd, int rows,
                                          int columns, float eps)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / kWarpSize;
    int lane = threadIdx.x % kWarpSize;
    if (row >= rows) {
        return; // the whole warp
    }
    // BUG
    //| __nv_bfloat16 squares = 0.0f;
    //| for (int i = lane; i < columns; i += kWarpSize) {
    //|     __nv_bfloat16 value = x[(long long)row * columns + i];
    //|     squares = squares + value * value;
    //| }
    //| for (int step = kWarpSize / 2; step > 0; step /= 2) {
    //|     squares = squares + __shfl_xor_sync(kWholeWarp, squares, step);
    //| }
    // SOLUTION
    float squares = 0.0f;
    for (int i = lane; i < columns; i += kWarpSize) {
        float value = x[(long long)row * columns + i];
        squares += value * value;
    }
    for (int step = kWarpSize / 2; step > 0; step /= 2) {
        squares += __shfl_xor_sync(kWholeWarp, squares, step);
    }
    // END
    if (lane == 0) {
        rstd[row] = rsqrtf(float(squares) / columns + eps);
    }
}
