// The running sums of n fp32 elements in one pass, as scan_look_back; sm_90. x and out begin at a
// multiple of 16 bytes. `words` has one word for each of the tiles of 8192 elements and one more,
// which counts tickets: all 0 before the launch.
// Adds to scan_look_back: specialised warps. Some load, some add up, one looks back, some scan and
// store, side by side and for different tiles; so the memory works while a tile waits. And no tile
// waits for a prefix: a block knows what stands before its last one, and adds the aggregates since.
// Limit: memory bandwidth.
// grid (any; one for each SM), block (704), dynamic shared 32768 * 5

#include "look_back.cuh"
#include "ptx.cuh"
#include "scan_tile.cuh"
#include "tma.cuh"

#ifndef STAGES
#define STAGES 5
#endif

constexpr int kStages = STAGES;   // tiles in shared memory
constexpr int kReducers = 4;      // warps, which take turns
constexpr int kScanners = kWarps; // warps, which share a tile as in scan_tiles
constexpr int kWindow = 9;        // words that a lane reads together: twice as many tiles as SMs

// cp.async.bulk: copy bytes, a multiple of 16, to shared memory; they count towards the barrier.
__device__ inline void bulk_load(unsigned to, const void *from, int bytes, unsigned barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" ::"r"(to), "l"(from), "r"(bytes), "r"(barrier)
                 : "memory");
}

// What the tiles from `first` to the one before `end` sum up to, in every lane. One whole warp
// calls it. It waits for aggregates alone, and no aggregate of theirs waits for this sum.
__device__ inline float sum_of_tiles(const TileWord *words, unsigned first, unsigned end)
{
    const int lane = threadIdx.x % kWarpSize;
    float sum = 0.0f;
    for (; first < end; first += kWindow * kWarpSize) {
        TileWord word[kWindow];
#pragma unroll
        for (int k = 0; k < kWindow; ++k) { // all of them are under way together
            const unsigned tile = first + k * kWarpSize + lane;
            word[k] = tile < end ? read_word(words + tile) : (TileWord)kAggregate << 32;
        }
#pragma unroll
        for (int k = 0; k < kWindow; ++k) {
            while (word[k] == 0) { // has said nothing yet
                word[k] = read_word(words + first + k * kWarpSize + lane);
            }
            sum += value_of<float>((unsigned)word[k]);
        }
    }
    return warp_sum(sum);
}

struct Pipeline {
    unsigned long long full[kStages];  // the tile has come
    unsigned long long known[kStages]; // what stands before it is in `before`
    unsigned long long empty[kStages]; // every warp is done with it
    unsigned tile[kStages];
    float before[kStages];
    float of_scanner[2][kScanners];
};

extern "C" __global__ void __launch_bounds__((2 + kReducers + kScanners) * kWarpSize)
    scan_specialized(const float *x, float *out, TileWord *words, unsigned tiles, size_t n)
{
    extern __shared__ float4 stages[];
    __shared__ Pipeline at;
    const int lane = threadIdx.x % kWarpSize;
    const int warp = threadIdx.x / kWarpSize;
    if (threadIdx.x == 0) {
        for (int s = 0; s < kStages; ++s) {
            mbarrier_init(shared_address(&at.full[s]), 1);
            mbarrier_init(shared_address(&at.known[s]), 1);
            mbarrier_init(shared_address(&at.empty[s]), kReducers + kScanners);
        }
        mbarriers_are_ready();
    }
    __syncthreads(); // the barriers are there

    float before = 0.0f; // of the warp that looks back: the sum of all tiles before `last`,
    unsigned last = 0;   // the tile that the block had before this one
    for (int turn = 0;; ++turn) { // all of them take the same tiles, in the same order
        const int s = turn % kStages;
        const unsigned parity = turn / kStages & 1;
        const unsigned full = shared_address(&at.full[s]);
        float4 *stage = stages + s * (kTile / 4);
        if (warp == 0) { // draws a ticket and loads its tile
            mbarrier_wait(shared_address(&at.empty[s]), parity ^ 1);
            unsigned tile = 0;
            if (lane == 0) {
                tile = atomicAdd(words + tiles, 1); // not before there is room: others wait for it
                at.tile[s] = tile;
            }
            tile = __shfl_sync(kWholeWarp, tile, 0);
            const size_t first = (size_t)tile * kTile;
            if (tile < tiles && first + kTile > n) { // the last one, by hand: zeros behind its end
                float *elements = reinterpret_cast<float *>(stage);
                for (int i = lane; i < kTile; i += kWarpSize) {
                    elements[i] = first + i < n ? x[first + i] : 0.0f;
                }
                __syncwarp(); // all of it is there
            }
            if (lane == 0) {
                if (first + kTile <= n) {
                    mbarrier_expect(full, sizeof(float) * kTile);
                    bulk_load(shared_address(stage), x + first, sizeof(float) * kTile, full);
                } else {
                    mbarrier_arrive(full);
                }
            }
            if (tile >= tiles) {
                return;
            }
            continue;
        }
        mbarrier_wait(full, parity);
        const unsigned tile = at.tile[s];
        if (tile >= tiles) {
            return;
        } else if (warp == 1) { // looks back
            before += sum_of_tiles(words, last, tile);
            last = tile;
            if (lane == 0) {
                at.before[s] = before;
                mbarrier_arrive(shared_address(&at.known[s]));
            }
        } else if (warp < 2 + kReducers) { // adds up every fourth tile
            if (turn % kReducers == warp - 2) {
                float sum = 0.0f;
#pragma unroll 16
                for (int k = lane; k < kTile / 4; k += kWarpSize) {
                    const float4 group = stage[k];
                    sum += (group.x + group.y) + (group.z + group.w);
                }
                sum = warp_sum(sum);
                if (lane == 0) {
                    publish(words + tile, kAggregate, sum);
                }
            }
            __syncwarp(); // the whole warp has read the stage, or the number alone
            if (lane == 0) {
                mbarrier_arrive(shared_address(&at.empty[s]));
            }
        } else { // scan and store
            const int w = warp - 2 - kReducers;
            const int place = w * kGroups * kWarpSize + lane; // of its first group
            float4 group[kGroups];
#pragma unroll
            for (int k = 0; k < kGroups; ++k) {
                group[k] = stage[place + k * kWarpSize];
            }
            const float sum = scan_groups(group);
            float *of_warp = at.of_scanner[turn % 2];
            if (lane == 0) {
                of_warp[w] = sum;
            }
            named_barrier<1, kScanners * kWarpSize>();
            const float others = warp_sum(lane < w ? of_warp[lane] : 0.0f);
            mbarrier_wait(shared_address(&at.known[s]), parity);
            const float offset = at.before[s] + others;
            __syncwarp(); // the whole warp has read the stage and the number
            if (lane == 0) {
                mbarrier_arrive(shared_address(&at.empty[s]));
            }
            const size_t first = (size_t)tile * kTile + 4 * place;
            if (((size_t)tile + 1) * kTile > n) {
                store_groups(out, first, n, group, offset);
                continue;
            }
#pragma unroll
            for (int k = 0; k < kGroups; ++k) { // .cg: faster here than the .cs of store_groups
                __stcg(reinterpret_cast<float4 *>(out + first) + k * kWarpSize,
                       {group[k].x + offset, group[k].y + offset, group[k].z + offset,
                        group[k].w + offset});
            }
        }
    }
}
