// A block's tile of fp32 elements in registers: 512 threads, four groups of four elements each. The
// groups of a warp are side by side in memory: lane 0 has the first, lane 1 the next.

#pragma once

#include "scan.cuh"

#ifndef THREADS
#define THREADS 512
#endif
#ifndef GROUPS
#define GROUPS 4
#endif

#ifndef BLOCKS
#define BLOCKS 4
#endif
constexpr int kThreads = THREADS;
constexpr int kWarps = kThreads / kWarpSize;
constexpr int kGroups = GROUPS;
constexpr int kTile = kThreads * 4 * kGroups;

// Where this thread's first group begins.
__device__ inline size_t first_of_thread(size_t tile)
{
    const int lane = threadIdx.x % kWarpSize;
    const int warp = threadIdx.x / kWarpSize;
    return tile * kTile + (size_t)warp * kWarpSize * 4 * kGroups + 4 * lane;
}

// The thread's groups from x + first on; elements past the end of x are taken as `none`.
__device__ inline void load_groups(float4 (&group)[kGroups], const float *x, size_t first, size_t n,
                                   float none = 0.0f)
{
#pragma unroll
    for (int k = 0; k < kGroups; ++k) {
        const size_t at = first + k * 4 * kWarpSize;
        if (at + 4 <= n) {
            group[k] = __ldcs(reinterpret_cast<const float4 *>(x + at));
        } else {
            group[k].x = at < n ? x[at] : none;
            group[k].y = at + 1 < n ? x[at + 1] : none;
            group[k].z = at + 2 < n ? x[at + 2] : none;
            group[k].w = none;
        }
    }
}

// Makes the groups running sums over the warp's elements. Returns the warp's sum, in every lane.
__device__ inline float scan_groups(float4 (&group)[kGroups])
{
    float sum = 0.0f; // of the warp's elements so far
#pragma unroll
    for (int k = 0; k < kGroups; ++k) {
        group[k].y += group[k].x;
        group[k].z += group[k].y;
        group[k].w += group[k].z;
        const float upto = warp_scan(group[k].w);
        const float before = sum + lane_before(upto);
        group[k].x += before;
        group[k].y += before;
        group[k].z += before;
        group[k].w += before;
        sum += __shfl_sync(kWholeWarp, upto, kWarpSize - 1);
    }
    return sum;
}

// Stores the groups, `offset` added, where load_groups found them.
__device__ inline void store_groups(float *out, size_t first, size_t n,
                                    const float4 (&group)[kGroups], float offset)
{
#pragma unroll
    for (int k = 0; k < kGroups; ++k) {
        const size_t at = first + k * 4 * kWarpSize;
        const float4 sum = {group[k].x + offset, group[k].y + offset, group[k].z + offset,
                            group[k].w + offset};
        if (at + 4 <= n) {
            __stcs(reinterpret_cast<float4 *>(out + at), sum);
        } else {
            if (at < n) out[at] = sum.x;
            if (at + 1 < n) out[at + 1] = sum.y;
            if (at + 2 < n) out[at + 2] = sum.z;
        }
    }
}
