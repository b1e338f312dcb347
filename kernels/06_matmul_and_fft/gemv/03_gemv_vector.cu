// y = A x for a row-major fp32 matrix A of M x K: y[row] is the product of a row of A and x. A and
// x begin at multiples of 16 bytes.
// Adds to gemv_warp.cu: each load brings four neighbours. Where K is no multiple of 4, rows do not
// begin at multiples of 16 bytes, and the loads are those of gemv_warp.cu.
// Limit: the source has one load of A before each sum. How many are in flight is what the compiler
// makes of the loop, which it unrolls.
// grid (ceil(M / 8)), block (256), dynamic shared 0

#include "reduce.cuh"

constexpr int kWarps = 8; // of a block

__device__ inline float dot(float4 a, float4 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

extern "C" __global__ void gemv_vector(const float *A, const float *x, float *y, int M, int K)
{
    int lane = threadIdx.x % kWarpSize;
    int row = blockIdx.x * kWarps + threadIdx.x / kWarpSize;
    if (row >= M) {
        return; // the whole warp
    }
    const float *values = A + (long long)row * K;
    float sum = 0.0f;
    if (K % 4 == 0) {
        const float4 *fours = reinterpret_cast<const float4 *>(values);
        const float4 *fours_x = reinterpret_cast<const float4 *>(x);
        for (int k = lane; k < K / 4; k += kWarpSize) {
            sum += dot(fours[k], fours_x[k]);
        }
    } else {
        for (int k = lane; k < K; k += kWarpSize) {
            sum += values[k] * x[k];
        }
    }
    sum = warp_sum(sum);
    if (lane == 0) {
        y[row] = sum;
    }
}
