// Sums over the threads of a warp and of a block. One-dimensional blocks of whole warps.

#pragma once

constexpr int kWarpSize = 32;
constexpr unsigned kWholeWarp = 0xffffffff;

// The sum over the warp's 32 threads, in each of them. All of them call it.
__device__ inline float warp_sum(float value)
{
#pragma unroll
    for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(kWholeWarp, value, distance);
    }
    return value;
}

// The sum over the block's kThreads threads, in its first warp only. All threads call it, once.
template <int kThreads>
__device__ inline float block_sum(float value)
{
    constexpr int kWarps = kThreads / kWarpSize;
    __shared__ float of_warp[kWarps];
    int lane = threadIdx.x % kWarpSize;
    int warp = threadIdx.x / kWarpSize;
    value = warp_sum(value);
    if (lane == 0) {
        of_warp[warp] = value;
    }
    __syncthreads(); // every warp's sum is there
    if (warp == 0) {
        value = warp_sum(lane < kWarps ? of_warp[lane] : 0.0f);
    }
    return value;
}
