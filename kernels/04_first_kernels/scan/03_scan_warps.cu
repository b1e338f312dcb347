// The running sums of each block's 256 elements of n fp32, and the block's own sum in sums[b].
// Adds to scan_hillis_steele: within a warp its steps are shuffles; the eight warps hand each other
// one number each. One barrier is left.
// Limit: four bytes in flight for each thread, as in sum_warp_shuffle.
// grid (ceil(n / 256)), block (256), dynamic shared 0

#include "scan.cuh"

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarpSize;

extern "C" __global__ void scan_warps(const float *x, float *out, float *sums, int n)
{
    __shared__ float of_warp[kWarps];
    const int i = blockIdx.x * kThreads + threadIdx.x;
    const int lane = threadIdx.x % kWarpSize;
    const int warp = threadIdx.x / kWarpSize;
    float upto = warp_scan(i < n ? x[i] : 0.0f);
    if (lane == kWarpSize - 1) {
        of_warp[warp] = upto;
    }
    __syncthreads(); // every warp's sum is there
    for (int w = 0; w < warp; ++w) {
        upto += of_warp[w];
    }
    if (i < n) {
        out[i] = upto;
    }
    if (threadIdx.x == kThreads - 1) {
        sums[blockIdx.x] = upto;
    }
}
