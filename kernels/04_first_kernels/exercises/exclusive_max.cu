// The exclusive running maximum within each block: out[i] is the largest of the elements of the
// block's 256 that come before x[i], and -infinity for the first; for n floats without NaN.
// grid (ceil(n / 256)), block (256), dynamic shared 0

#include "scan.cuh"

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarpSize;

extern "C" __global__ void exclusive_max(const float *x, float *out, int n)
{
    __shared__ float of_warp[kWarps];
    const int i = blockIdx.x * kThreads + threadIdx.x;
    const int lane = threadIdx.x % kWarpSize;
    const int warp = threadIdx.x / kWarpSize;
    const float infinity = __int_as_float(0x7f800000); // the bits of +infinity
    float upto = i < n ? x[i] : -infinity;
    for (int distance = 1; distance < kWarpSize; distance *= 2) {
        const float left = __shfl_up_sync(kWholeWarp, upto, distance);
        upto = lane >= distance ? fmaxf(left, upto) : upto;
    }
    // Here upto is the largest of the warp's elements up to this lane's own.

    // TODO: `before`, the largest of all elements of the block before this one. What the warps
    // before found comes through of_warp; what the lanes before found is one more shuffle away
    // STARTER
    //| float before = upto;
    // SOLUTION
    if (lane == kWarpSize - 1) {
        of_warp[warp] = upto;
    }
    __syncthreads(); // every warp's largest is there
    float before = __shfl_up_sync(kWholeWarp, upto, 1);
    before = lane == 0 ? -infinity : before;
    for (int w = 0; w < warp; ++w) {
        before = fmaxf(before, of_warp[w]);
    }
    // END
    if (i < n) {
        out[i] = before;
    }
}
