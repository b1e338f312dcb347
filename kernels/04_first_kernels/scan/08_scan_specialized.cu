// The running sums of n fp32 elements in one pass, as scan_look_back; sm_90. x and out begin at a
// multiple of 16 bytes. `words` has one word for each of the tiles of 8192 elements and one more,
// which counts tickets: all 0 before the launch.
// Adds to scan_look_back: specialised warps. Some load, some add up, one looks back, some scan and
// store, side by side and for different tiles; so the memory works while a tile waits.
// Limit: memory bandwidth.
// grid (any; one for each SM), block (704), dynamic shared 32768 * 7

#include "look_back.cuh"
#include "ptx.cuh"
#include "tma.cuh"

#ifndef STAGES
#define STAGES 7
#endif
#ifndef GROUPS
#define GROUPS 4
#endif

constexpr int kStages = STAGES; // tiles in shared memory
constexpr int kGroups = GROUPS; // of four elements, for each scanner
constexpr int kReducers = 128;
constexpr int kScanners = 512;
constexpr int kTile = kScanners * 4 * kGroups;
constexpr int kReducerWarps = kReducers / kWarpSize;
constexpr int kScannerWarps = kScanners / kWarpSize;

// cp.async.bulk: copy bytes, a multiple of 16, to shared memory; they count towards the barrier.
__device__ inline void bulk_load(unsigned to, const void *from, int bytes, unsigned barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" ::"r"(to), "l"(from), "r"(bytes), "r"(barrier)
                 : "memory");
}

struct Pipeline {
    unsigned long long full[kStages];   // the tile has come
    unsigned long long summed[kStages]; // its sum is in `aggregate`
    unsigned long long known[kStages];  // what stands before it is in `before`
    unsigned long long empty[kStages];  // nobody needs it any more
    unsigned tile[kStages];
    float aggregate[kStages];
    float before[kStages];
    float of_reducer[2][kReducerWarps];
    float of_scanner[2][kScannerWarps];
};

extern "C" __global__ void __launch_bounds__(2 * kWarpSize + kReducers + kScanners)
    scan_specialized(const float *x, float *out, TileWord *words, unsigned tiles, size_t n)
{
    extern __shared__ float4 stages[];
    __shared__ Pipeline at;
    const int lane = threadIdx.x % kWarpSize;
    const int warp = threadIdx.x / kWarpSize;
    if (threadIdx.x == 0) {
        for (int s = 0; s < kStages; ++s) {
            mbarrier_init(shared_address(&at.full[s]), 1);
            mbarrier_init(shared_address(&at.summed[s]), 1);
            mbarrier_init(shared_address(&at.known[s]), 1);
            mbarrier_init(shared_address(&at.empty[s]), kScannerWarps);
        }
        mbarriers_are_ready();
    }
    __syncthreads(); // the barriers are there

    for (int turn = 0;; ++turn) { // all of them take the same tiles, in the same order
        const int s = turn % kStages;
        const unsigned parity = turn / kStages & 1;
        const unsigned full = shared_address(&at.full[s]);
        float4 *stage = stages + s * (kTile / 4);
        if (warp == 0) { // draws a ticket and loads its tile
            mbarrier_wait(shared_address(&at.empty[s]), parity ^ 1);
            unsigned tile = 0;
            if (lane == 0) {
                tile = atomicAdd(words + tiles, 1);
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
        } else if (warp == 1) { // looks back
            mbarrier_wait(shared_address(&at.summed[s]), parity);
            const unsigned tile = at.tile[s];
            if (tile >= tiles) {
                return;
            }
            const float before = look_back<float>(words, tile).before;
            if (lane == 0) {
                publish(words + tile, kPrefix, before + at.aggregate[s]);
                at.before[s] = before;
                mbarrier_arrive(shared_address(&at.known[s]));
            }
        } else if (warp < 2 + kReducerWarps) { // add up
            const int t = threadIdx.x - 2 * kWarpSize;
            mbarrier_wait(full, parity);
            const unsigned tile = at.tile[s];
            float sum = 0.0f;
            if (tile < tiles) {
#pragma unroll 8
                for (int k = t; k < kTile / 4; k += kReducers) {
                    const float4 group = stage[k];
                    sum += (group.x + group.y) + (group.z + group.w);
                }
            }
            sum = warp_sum(sum);
            float *of_warp = at.of_reducer[turn % 2]; // the other one may still be read
            if (lane == 0) {
                of_warp[t / kWarpSize] = sum;
            }
            named_barrier<1, kReducers>();
            if (t == 0) {
                float aggregate = 0.0f;
                for (int w = 0; w < kReducerWarps; ++w) {
                    aggregate += of_warp[w];
                }
                if (tile < tiles) {
                    publish(words + tile, kAggregate, aggregate);
                }
                at.aggregate[s] = aggregate;
                mbarrier_arrive(shared_address(&at.summed[s]));
            }
            if (tile >= tiles) {
                return;
            }
        } else { // scan and store
            const int t = threadIdx.x - 2 * kWarpSize - kReducers;
            const int w = t / kWarpSize;
            mbarrier_wait(full, parity);
            const unsigned tile = at.tile[s];
            if (tile >= tiles) {
                return;
            }
            float4 group[kGroups];
            float sum = 0.0f; // of the warp's elements so far
#pragma unroll
            for (int k = 0; k < kGroups; ++k) {
                group[k] = stage[(w * kGroups + k) * kWarpSize + lane];
                group[k].y += group[k].x;
                group[k].z += group[k].y;
                group[k].w += group[k].z;
                const float upto = warp_scan(group[k].w);
                const float left = sum + lane_before(upto);
                group[k].x += left;
                group[k].y += left;
                group[k].z += left;
                group[k].w += left;
                sum += __shfl_sync(kWholeWarp, upto, kWarpSize - 1);
            }
            float *of_warp = at.of_scanner[turn % 2];
            if (lane == 0) {
                of_warp[w] = sum;
            }
            named_barrier<2, kScanners>();
            const float others = warp_sum(lane < w ? of_warp[lane] : 0.0f);
            mbarrier_wait(shared_address(&at.known[s]), parity);
            const float offset = at.before[s] + others;
            __syncwarp(); // the whole warp has read the stage and the number
            if (lane == 0) {
                mbarrier_arrive(shared_address(&at.empty[s]));
            }
            const size_t first = (size_t)tile * kTile + (size_t)w * kGroups * 4 * kWarpSize + 4 * lane;
#pragma unroll
            for (int k = 0; k < kGroups; ++k) {
                const size_t i = first + k * 4 * kWarpSize;
                const float4 done = {group[k].x + offset, group[k].y + offset, group[k].z + offset,
                                     group[k].w + offset};
                if (i + 4 <= n) {
                    __stcs(reinterpret_cast<float4 *>(out + i), done);
                } else {
                    if (i < n) out[i] = done.x;
                    if (i + 1 < n) out[i + 1] = done.y;
                    if (i + 2 < n) out[i + 2] = done.z;
                }
            }
        }
    }
}
