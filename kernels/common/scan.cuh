// Inclusive scans over the threads of a warp. One-dimensional blocks of whole warps.

#pragma once

#include "reduce.cuh"

// The sum of the values of lanes 0 to this one, in five steps. All 32 lanes call it.
template <typename T>
__device__ inline T warp_scan(T value)
{
    const int lane = threadIdx.x % kWarpSize;
#pragma unroll
    for (int distance = 1; distance < kWarpSize; distance *= 2) {
        const T left = __shfl_up_sync(kWholeWarp, value, distance);
        if (lane >= distance) {
            value = left + value;
        }
    }
    return value;
}

// The value of the lane before, and 0 in lane 0: makes an exclusive scan of an inclusive one.
template <typename T>
__device__ inline T lane_before(T value)
{
    const T left = __shfl_up_sync(kWholeWarp, value, 1);
    return threadIdx.x % kWarpSize == 0 ? T(0) : left;
}
