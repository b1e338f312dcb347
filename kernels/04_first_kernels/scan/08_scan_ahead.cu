// The running sums of n fp32 elements in one pass, as scan_look_back, on any grid; sm_90.
// Adds to scan_look_back: a block takes tile after tile, and while it scans one and looks back, the
// next one is on its way to shared memory. `words` has a word for each tile and one that counts
// tickets: all 0 before the launch. x and out begin at a multiple of 16 bytes.
// grid (any; as many as fit), block (512), dynamic shared 32768

#include "look_back.cuh"
#include "ptx.cuh"
#include "scan_tile.cuh"
#include "tma.cuh"

// cp.async.bulk: copy bytes, a multiple of 16, to shared memory; they count towards the barrier.
__device__ inline void bulk_load(unsigned to, const void *from, int bytes, unsigned barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" ::"r"(to), "l"(from), "r"(bytes), "r"(barrier)
                 : "memory");
}

extern "C" __global__ void __launch_bounds__(kThreads, BLOCKS)
    scan_ahead(const float *x, float *out, TileWord *words, unsigned tiles, size_t n)
{
    extern __shared__ float4 stage[]; // the next tile
    __shared__ unsigned long long full;
    __shared__ unsigned tile_in_stage;
    __shared__ float offset_of_warp[kWarps];
    const int lane = threadIdx.x % kWarpSize;
    const int warp = threadIdx.x / kWarpSize;
    const unsigned barrier = shared_address(&full);
    const bool producer = threadIdx.x == kThreads - kWarpSize; // in the last warp: warp 0 looks back
    unsigned ahead = 0; // the producer's next ticket

    auto draw = [&] { return (unsigned)atomicAdd(words + tiles, 1); };
    auto start = [&](unsigned tile) {
        tile_in_stage = tile;
        if ((size_t)(tile + 1) * kTile <= n) {
            mbarrier_expect(barrier, sizeof(float) * kTile);
            bulk_load(shared_address(stage), x + (size_t)tile * kTile, sizeof(float) * kTile,
                      barrier);
        }
    };
    if (producer) {
        mbarrier_init(barrier, 1);
        mbarriers_are_ready();
        start(draw());
        ahead = draw();
    }
    __syncthreads(); // the barrier is there, and the first tile's number
    for (unsigned parity = 0;; parity ^= 1) {
        const unsigned tile = tile_in_stage;
        if (tile >= tiles) {
            break;
        }
        const size_t first = first_of_thread(tile);
        float4 group[kGroups];
        if ((size_t)(tile + 1) * kTile <= n) {
            mbarrier_wait(barrier, parity);
#pragma unroll
            for (int k = 0; k < kGroups; ++k) {
                group[k] = stage[(warp * kGroups + k) * kWarpSize + lane];
            }
        } else {
            load_groups(group, x, first, n); // the last tile of all
        }
        __syncthreads(); // the stage may be filled again
        if (producer) {
            start(ahead);
            ahead = draw(); // its answer is not waited for before the next turn
        }
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
}
