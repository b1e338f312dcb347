// y = (x - mean) * rstd * gamma + beta for each row of x, rows x columns of fp32, where rstd is
// 1 / sqrt(variance + eps). Any number of columns.
// Adds to layer_norm_two_pass.cu: mean and squared distances in one pass. Each thread keeps those
// of the numbers that it met (Welford), and threads merge theirs.
// Limit: traffic, two reads and a write for each element; and a division for each.
// grid (rows), block (256), dynamic shared 0

#include "moments.cuh"

constexpr int kThreads = 256;

extern "C" __global__ void layer_norm_welford(const float *x, const float *gamma,
                                              const float *beta, float *y, float *mean,
                                              float *rstd, int columns, float eps)
{
    const float *row = x + (long long)blockIdx.x * columns;
    Moments mine = {0.0f, 0.0f, 0.0f};
    for (int i = threadIdx.x; i < columns; i += kThreads) {
        mine = with(mine, row[i]);
    }
    Moments all = block_moments<kThreads>(mine);
    float scale = rsqrtf(all.squares / columns + eps);
    for (int i = threadIdx.x; i < columns; i += kThreads) {
        y[(long long)blockIdx.x * columns + i] = (row[i] - all.mean) * scale * gamma[i] + beta[i];
    }
    if (threadIdx.x == 0) {
        mean[blockIdx.x] = all.mean;
        rstd[blockIdx.x] = scale;
    }
}
