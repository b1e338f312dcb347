// y = A x for a row-major fp32 matrix A of M x K: y[row] is the product of a row of A and x.
// Adds to gemv_thread.cu: one warp a row. Its lanes read neighbours, add up every 32nd product, and
// combine their sums by shuffles.
// Limit: loads of four bytes. A warp asks for 128 bytes of A with each, and for as many of x.
// grid (ceil(M / 8)), block (256), dynamic shared 0

#include "reduce.cuh"

constexpr int kWarps = 8; // of a block

extern "C" __global__ void gemv_warp(const float *A, const float *x, float *y, int M, int K)
{
    int lane = threadIdx.x % kWarpSize;
    int row = blockIdx.x * kWarps + threadIdx.x / kWarpSize;
    if (row >= M) {
        return; // the whole warp
    }
    const float *values = A + (long long)row * K;
    float sum = 0.0f;
    for (int k = lane; k < K; k += kWarpSize) {
        sum += values[k] * x[k];
    }
    sum = warp_sum(sum);
    if (lane == 0) {
        y[row] = sum;
    }
}
