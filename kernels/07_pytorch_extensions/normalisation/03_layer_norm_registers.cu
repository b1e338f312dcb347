// y = (x - mean) * rstd * gamma + beta for each row of x, rows x columns of fp32, where rstd is
// 1 / sqrt(variance + eps). columns is at most THREADS * EACH.
// Adds to layer_norm_two_pass.cu: the row stays in registers. It is read once, and the second and
// the third pass cost no traffic, so there is no need for Welford's division.
// Limit: load instructions, one for each element.
// grid (rows), block (THREADS), dynamic shared 0

#include "row_values.cuh"

#ifndef THREADS
#define THREADS 256
#endif
#ifndef EACH
#define EACH 16 // elements that a thread keeps
#endif

extern "C" __global__ void __launch_bounds__(THREADS)
    layer_norm_registers(const float *x, const float *gamma, const float *beta, float *y,
                         float *mean, float *rstd, int columns, float eps)
{
    __shared__ float of_warp[2][THREADS / kWarpSize];
    const float *row = x + (long long)blockIdx.x * columns;
    float part[EACH];
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < EACH; ++k) {
        int i = k * THREADS + threadIdx.x;
        part[k] = i < columns ? row[i] : 0.0f;
        sum += part[k];
    }
    float center = block_total<THREADS>(sum, of_warp[0]) / columns;
    float squares = 0.0f;
#pragma unroll
    for (int k = 0; k < EACH; ++k) {
        float distance = k * THREADS + threadIdx.x < columns ? part[k] - center : 0.0f;
        squares += distance * distance;
    }
    float scale = rsqrtf(block_total<THREADS>(squares, of_warp[1]) / columns + eps);
#pragma unroll
    for (int k = 0; k < EACH; ++k) {
        int i = k * THREADS + threadIdx.x;
        if (i < columns) {
            y[(long long)blockIdx.x * columns + i] =
                (part[k] - center) * scale * gamma[i] + beta[i];
        }
    }
    if (threadIdx.x == 0) {
        mean[blockIdx.x] = center;
        rstd[blockIdx.x] = scale;
    }
}
