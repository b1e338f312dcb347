// The running sums of n fp32 elements in one pass: out[i] = x[0] + ... + x[i]; both arrays begin at
// a multiple of 16 bytes. A tile is what one block takes, 8192 elements. `words` has one word for
// each tile and *ticket is a counter: all 0 before the launch.
// Adds to scan_tiles: the blocks hand on their sums while they work (decoupled look-back).
// Limit: memory bandwidth. Each element is read once and written once. Takes any n < 2^44.
// grid (ceil(n / 8192)), block (512), dynamic shared 0

#include "look_back.cuh"

#ifndef THREADS
#define THREADS 512
#endif
#ifndef GROUPS
#define GROUPS 4
#endif
#ifndef BLOCKS
#define BLOCKS 1
#endif
#ifdef STREAM
#define LOAD(p) __ldcs(p)
#define STORE(p, v) __stcs(p, v)
#else
#define LOAD(p) (*(p))
#define STORE(p, v) (*(p) = (v))
#endif
constexpr int kThreads = THREADS;
constexpr int kWarps = kThreads / kWarpSize;
constexpr int kGroups = GROUPS; // of four elements, for each thread
constexpr int kTile = kThreads * 4 * kGroups;

// The groups of a warp lie side by side: lane 0 has the first, lane 1 the next.
__device__ inline float4 load_group(const float *x, size_t at, size_t n)
{
    if (at + 4 <= n) {
        return LOAD(reinterpret_cast<const float4 *>(x + at));
    }
    float4 group = {0.0f, 0.0f, 0.0f, 0.0f};
    if (at < n) group.x = x[at];
    if (at + 1 < n) group.y = x[at + 1];
    if (at + 2 < n) group.z = x[at + 2];
    return group;
}

__device__ inline void store_group(float *out, size_t at, size_t n, float4 group)
{
    if (at + 4 <= n) {
        STORE(reinterpret_cast<float4 *>(out + at), group);
        return;
    }
    if (at < n) out[at] = group.x;
    if (at + 1 < n) out[at + 1] = group.y;
    if (at + 2 < n) out[at + 2] = group.z;
}

extern "C" __global__ void __launch_bounds__(kThreads, BLOCKS)
    scan_look_back(const float *x, float *out, TileWord *words, unsigned *ticket, size_t n)
{
    __shared__ unsigned drawn;
    __shared__ float offset_of_warp[kWarps];
    const int lane = threadIdx.x % kWarpSize;
    const int warp = threadIdx.x / kWarpSize;
    if (threadIdx.x == 0) {
        drawn = atomicAdd(ticket, 1); // in the order in which blocks start, not of blockIdx
    }
    __syncthreads(); // the number of the tile is there
    const size_t tile = drawn;
    const size_t first = tile * kTile + (size_t)warp * kWarpSize * 4 * kGroups + 4 * lane;

    float4 group[kGroups];
#pragma unroll
    for (int k = 0; k < kGroups; ++k) {
        group[k] = load_group(x, first + k * 4 * kWarpSize, n);
    }
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
    if (lane == 0) {
        offset_of_warp[warp] = sum;
    }
    __syncthreads(); // every warp's sum is there
    if (warp == 0) {
        const float upto = warp_scan(lane < kWarps ? offset_of_warp[lane] : 0.0f);
        const float aggregate = __shfl_sync(kWholeWarp, upto, kWarps - 1);
        if (lane == 0 && tile > 0) {
            publish(words + tile, kAggregate, aggregate);
        }
        const float before = look_back<float>(words, tile);
        if (lane == 0) {
            publish(words + tile, kPrefix, before + aggregate);
        }
        const float offset = before + lane_before(upto);
        if (lane < kWarps) {
            offset_of_warp[lane] = offset;
        }
    }
    __syncthreads(); // every warp's offset is there
    const float offset = offset_of_warp[warp];
#pragma unroll
    for (int k = 0; k < kGroups; ++k) {
        group[k].x += offset;
        group[k].y += offset;
        group[k].z += offset;
        group[k].w += offset;
        store_group(out, first + k * 4 * kWarpSize, n, group[k]);
    }
}
