// dx of a layer normalisation, rows x columns of fp32, columns up to 2048: with g = dy * gamma and
// n = (x - mean) * rstd it is rstd * (g - mean of g - n * mean of g n), the means over the row.
// A block a row.
// grid (rows), block (256), dynamic shared 0

#include "row_values.cuh" // block_total

constexpr int kThreads = 256;
constexpr int kEach = 8; // elements of a thread

extern "C" __global__ void layer_norm_gradient(const float *dy, const float *x, const float *gamma,
                                               const float *mean, const float *rstd, float *dx,
                                               int columns)
{
    __shared__ float of_warp[2][kThreads / kWarpSize];
    long long start = (long long)blockIdx.x * columns;
    float center = mean[blockIdx.x], scale = rstd[blockIdx.x];
    float normed[kEach], gradient[kEach]; // n and g of the thread's elements
    // TODO: load dy, x and gamma once, let block_total<kThreads>(value, of_warp[0]) and (…,
    // of_warp[1]) add up the two sums of the row, and store dx
    // SOLUTION
    float sum = 0.0f, product = 0.0f;
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
        int i = k * kThreads + threadIdx.x;
        bool there = i < columns;
        normed[k] = there ? (x[start + i] - center) * scale : 0.0f;
        gradient[k] = there ? dy[start + i] * gamma[i] : 0.0f;
        sum += gradient[k];
        product += gradient[k] * normed[k];
    }
    sum = block_total<kThreads>(sum, of_warp[0]) / columns;
    product = block_total<kThreads>(product, of_warp[1]) / columns;
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
        int i = k * kThreads + threadIdx.x;
        if (i < columns) {
            dx[start + i] = scale * (gradient[k] - sum - normed[k] * product);
        }
    }
    // END
}
