// y = softmax of each row of x, rows x columns of fp32: exp(x - largest), divided by the row's sum.
// The idea: one warp of 32 threads takes a row, and its threads exchange numbers by shuffles, so no
// barrier is needed. Takes any rows and columns of which there is at least one.
// Limit: memory. A row is read three times, and only the first read has to come from far away.
// grid (ceil(rows / 8)), block (256), dynamic shared 0

#include "reduce.cuh"

__device__ float warp_max(float value)
{
    for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
        value = fmaxf(value, __shfl_xor_sync(kWholeWarp, value, distance));
    }
    return value;
}

extern "C" __global__ void softmax_warps(const float *x, float *y, int rows, int columns)
{
    int lane = threadIdx.x % kWarpSize;
    long long row = (blockIdx.x * (long long)blockDim.x + threadIdx.x) / kWarpSize;
    if (row >= rows) {
        return; // the whole warp has no row
    }
    x += row * columns;
    y += row * columns;

    float largest = x[0];
    for (int i = lane; i < columns; i += kWarpSize) {
        largest = fmaxf(largest, x[i]);
    }
    largest = warp_max(largest);

    float sum = 0.0f;
    for (int i = lane; i < columns; i += kWarpSize) {
        sum += expf(x[i] - largest);
    }
    float scale = 1.0f / warp_sum(sum);

    for (int i = lane; i < columns; i += kWarpSize) {
        y[i] = expf(x[i] - largest) * scale;
    }
}
