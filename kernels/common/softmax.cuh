// The state of a softmax, for a thread, a warp and a block: the largest number met, and the sum of
// exponentials relative to it. One-dimensional blocks of whole warps.

#pragma once

#include "reduce.cuh"

// The least finite float means "nothing met yet": minus infinity less minus infinity is NaN.
// A row that is minus infinity throughout ends with a sum of 0, and 0 / 0 makes it NaN, as it is in
// PyTorch.
constexpr float kLowest = -3.4028235e38f;

// The sum of expf(v - largest) over some numbers v.
struct ExpSum {
    float largest;
    float sum;
};

// Of the numbers of both.
__device__ inline ExpSum merged(ExpSum a, ExpSum b)
{
    float largest = fmaxf(a.largest, b.largest);
    return {largest, a.sum * expf(a.largest - largest) + b.sum * expf(b.largest - largest)};
}

// The largest number of a thread's part of a row, or kLowest if that is larger.
template <int kGroups>
__device__ inline float largest_of(const float (&part)[kGroups][4])
{
    float largest = kLowest;
#pragma unroll
    for (int k = 0; k < kGroups; ++k) {
        largest =
            fmaxf(largest, fmaxf(fmaxf(part[k][0], part[k][1]), fmaxf(part[k][2], part[k][3])));
    }
    return largest;
}

// Put expf(v - largest) in the place of each number v of a thread's part of a row.
template <int kGroups>
__device__ inline ExpSum exponentials(float (&part)[kGroups][4], float largest)
{
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < kGroups; ++k) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            part[k][j] = expf(part[k][j] - largest);
            sum += part[k][j];
        }
    }
    return {largest, sum};
}

// Multiply each number of a thread's part of a row.
template <int kGroups>
__device__ inline void scale_part(float (&part)[kGroups][4], float scale)
{
#pragma unroll
    for (int k = 0; k < kGroups; ++k) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            part[k][j] *= scale;
        }
    }
}

// The largest value of the warp's 32 threads, in each of them. All of them call it.
__device__ inline float warp_max(float value)
{
#pragma unroll
    for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
        value = fmaxf(value, __shfl_xor_sync(kWholeWarp, value, distance));
    }
    return value;
}

// Of the warp's 32 threads, in each of them. All of them call it.
__device__ inline ExpSum warp_merged(ExpSum mine)
{
    float largest = warp_max(mine.largest);
    return {largest, warp_sum(mine.sum * expf(mine.largest - largest))};
}

// Of `count` ExpSums in shared memory, in each thread of the warp. All of them call it.
__device__ inline ExpSum warp_merged(const ExpSum *all, int count)
{
    ExpSum mine = {kLowest, 0.0f};
    for (int i = threadIdx.x % kWarpSize; i < count; i += kWarpSize) {
        mine = merged(mine, all[i]);
    }
    return warp_merged(mine);
}

// Of the block's kThreads threads, in each of them. All of them call it, once.
template <int kThreads>
__device__ inline ExpSum block_merged(ExpSum mine)
{
    constexpr int kWarps = kThreads / kWarpSize;
    __shared__ ExpSum of_warp[kWarps];
    mine = warp_merged(mine);
    if (threadIdx.x % kWarpSize == 0) {
        of_warp[threadIdx.x / kWarpSize] = mine;
    }
    __syncthreads(); // every warp's is there
    return warp_merged(of_warp, kWarps);
}
