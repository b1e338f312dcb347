// The elements of x that are greater than `limit`, in their order, in one pass: out[0] to
// out[*count - 1]; x begins at a multiple of 16 bytes. `words` has one word for each tile of 8192
// elements and one more, which counts tickets: all 0 before the launch. Takes any n from 1 to
// 2^32 - 2^14.
// The idea: where an element goes is a scan of ones and zeros; the tile is packed in shared memory,
// so that neighbouring threads write neighbouring elements.
// Limit: memory bandwidth. Each element is read once, and written once if it is kept.
// grid (ceil(n / 8192)), block (512), dynamic shared 0

#include "look_back.cuh"
#include "scan_tile.cuh"

static_assert(kGroups <= 4, "a byte of a word counts the kept ones of each group");

extern "C" __global__ void __launch_bounds__(kThreads, BLOCKS)
    select_look_back(const float *x, float limit, float *out, unsigned *count, TileWord *words,
                     unsigned n)
{
    __shared__ float packed[kTile];
    __shared__ unsigned of_warp[kWarps];
    __shared__ unsigned drawn, before_tile;
    const int lane = threadIdx.x % kWarpSize;
    const int warp = threadIdx.x / kWarpSize;
    if (threadIdx.x == 0) {
        drawn = atomicAdd(words + gridDim.x, 1);
    }
    __syncthreads(); // the number of the tile is there
    const unsigned tile = drawn;
    float4 group[kGroups];
    load_groups(group, x, first_of_thread(tile), n, limit); // what is not there is not kept

    unsigned kept = 0;   // a bit for each of the thread's elements
    unsigned counts = 0; // a byte for each of its groups
#pragma unroll
    for (int k = 0; k < kGroups; ++k) {
        const unsigned bits = (group[k].x > limit) | (group[k].y > limit) << 1 |
                              (group[k].z > limit) << 2 | (group[k].w > limit) << 3;
        kept |= bits << 4 * k;
        counts |= __popc(bits) << 8 * k;
    }
    const unsigned upto = warp_scan(counts); // four scans at once: no byte passes 128
    const unsigned left = upto - counts;
    const unsigned whole = __shfl_sync(kWholeWarp, upto, kWarpSize - 1);
    unsigned of_groups = 0;
#pragma unroll
    for (int k = 0; k < kGroups; ++k) {
        of_groups += whole >> 8 * k & 255;
    }
    if (lane == 0) {
        of_warp[warp] = of_groups;
    }
    __syncthreads(); // every warp's count is there
    const unsigned upto_warp = warp_scan(lane < kWarps ? of_warp[lane] : 0);
    const unsigned of_tile = __shfl_sync(kWholeWarp, upto_warp, kWarps - 1);
    if (threadIdx.x == 0 && tile > 0) {
        publish(words + tile, kAggregate, of_tile); // early: others wait for it
    }
    unsigned to = __shfl_sync(kWholeWarp, upto_warp, warp) - of_groups;
#pragma unroll
    for (int k = 0; k < kGroups; ++k) {
        unsigned place = to + (left >> 8 * k & 255);
        const float value[4] = {group[k].x, group[k].y, group[k].z, group[k].w};
#pragma unroll
        for (int c = 0; c < 4; ++c) {
            if (kept >> (4 * k + c) & 1) {
                packed[place++] = value[c];
            }
        }
        to += whole >> 8 * k & 255;
    }
    if (warp == 0) {
        const unsigned before = look_back<unsigned>(words, tile).before;
        if (lane == 0) {
            publish(words + tile, kPrefix, before + of_tile);
            before_tile = before;
            if (tile == gridDim.x - 1) {
                *count = before + of_tile;
            }
        }
    }
    __syncthreads(); // the tile is packed, and its place is known
    for (unsigned i = threadIdx.x; i < of_tile; i += kThreads) {
        __stcs(&out[before_tile + i], packed[i]);
    }
}
