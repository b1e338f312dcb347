// y = (x - mean) * rstd * gamma + beta for each row of x, rows x columns of fp32, where rstd is
// 1 / sqrt(variance + eps) and the variance divides by columns. mean and rstd are kept for the way
// back. Any number of columns.
// The idea: a block takes a row and reads it three times: for the mean, for the squared distances
// from it, and to normalise.
// Limit: traffic. Three reads and a write for each element.
// grid (rows), block (256), dynamic shared 0

#include "row_values.cuh"

constexpr int kThreads = 256;

extern "C" __global__ void layer_norm_two_pass(const float *x, const float *gamma,
                                               const float *beta, float *y, float *mean,
                                               float *rstd, int columns, float eps)
{
    __shared__ float of_warp[2][kThreads / kWarpSize];
    const float *row = x + (long long)blockIdx.x * columns;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < columns; i += kThreads) {
        sum += row[i];
    }
    float center = block_total<kThreads>(sum, of_warp[0]) / columns;
    float squares = 0.0f;
    for (int i = threadIdx.x; i < columns; i += kThreads) {
        squares += (row[i] - center) * (row[i] - center);
    }
    float scale = rsqrtf(block_total<kThreads>(squares, of_warp[1]) / columns + eps);
    for (int i = threadIdx.x; i < columns; i += kThreads) {
        y[(long long)blockIdx.x * columns + i] = (row[i] - center) * scale * gamma[i] + beta[i];
    }
    if (threadIdx.x == 0) {
        mean[blockIdx.x] = center;
        rstd[blockIdx.x] = scale;
    }
}
