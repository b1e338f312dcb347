// Mean and squared distances of numbers that come one at a time, and of two sets merged (Welford
// 1962; Chan, Golub and LeVeque 1979). One-dimensional blocks of whole warps.

#pragma once

#include "reduce.cuh"

// Of `count` numbers: their mean, and the sum of their squared distances from it.
struct Moments {
    float count;
    float mean;
    float squares;
};

// With one number more.
__device__ inline Moments with(Moments of, float value)
{
    float count = of.count + 1.0f;
    float distance = value - of.mean; // from the mean so far
    float mean = of.mean + distance / count;
    return {count, mean, of.squares + distance * (value - mean)};
}

// Of the numbers of both, of which either may have none.
__device__ inline Moments merged(Moments a, Moments b)
{
    float count = a.count + b.count;
    float share = b.count == 0.0f ? 0.0f : b.count / count;
    float distance = b.mean - a.mean;
    return {count, a.mean + distance * share,
            a.squares + b.squares + distance * distance * a.count * share};
}

// Of the block's kThreads threads, in each of them. All of them call it, once.
template <int kThreads>
__device__ inline Moments block_moments(Moments mine)
{
    constexpr int kWarps = kThreads / kWarpSize;
    __shared__ Moments of_warp[kWarps];
    auto over_warp = [](Moments of) {
#pragma unroll
        for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
            Moments other = {__shfl_xor_sync(kWholeWarp, of.count, distance),
                             __shfl_xor_sync(kWholeWarp, of.mean, distance),
                             __shfl_xor_sync(kWholeWarp, of.squares, distance)};
            of = merged(of, other);
        }
        return of;
    };
    int lane = threadIdx.x % kWarpSize;
    mine = over_warp(mine);
    if (lane == 0) {
        of_warp[threadIdx.x / kWarpSize] = mine;
    }
    __syncthreads(); // every warp's are there
    return over_warp(lane < kWarps ? of_warp[lane] : Moments{0.0f, 0.0f, 0.0f});
}
