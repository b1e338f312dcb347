// The running sums of n fp32 elements in one pass: out[i] = x[0] + ... + x[i]; both arrays begin at
// a multiple of 16 bytes. `words` has one word for each tile of 16384 elements and one more, which
// counts tickets: all 0 before the launch. Takes any n that fits in memory.
// Adds to scan_tiles: the tiles hand on their sums while they work (decoupled look-back), so the
// result is written once and never read again.
// Limit: the steps of a block, one after the other; each element is read once and written once.
// grid (ceil(n / 16384)), block (512), dynamic shared 0

#ifndef GROUPS
#define GROUPS 8 // twice as many elements for each look back
#define BLOCKS 2
#endif
#include "look_back.cuh"
#include "scan_tile.cuh"

extern "C" __global__ void __launch_bounds__(kThreads, BLOCKS)
    scan_look_back(const float *x, float *out, TileWord *words, size_t n)
{
    __shared__ unsigned drawn;
    __shared__ float offset_of_warp[kWarps];
    const int lane = threadIdx.x % kWarpSize;
    const int warp = threadIdx.x / kWarpSize;
    if (threadIdx.x == 0) {
        drawn = atomicAdd(words + gridDim.x, 1); // in the order in which blocks start
    }
    __syncthreads(); // the number of the tile is there
    const unsigned tile = drawn;
    const size_t first = first_of_thread(tile);
    float4 group[kGroups];
    load_groups(group, x, first, n);
    const float sum = scan_groups(group);
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
        const float before = look_back<float>(words, tile).before;
        if (lane == 0) {
            publish(words + tile, kPrefix, before + aggregate);
        }
        const float offset = before + lane_before(upto);
        if (lane < kWarps) {
            offset_of_warp[lane] = offset;
        }
    }
    __syncthreads(); // every warp's offset is there
    store_groups(out, first, n, group, offset_of_warp[warp]);
}
