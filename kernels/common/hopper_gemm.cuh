// C = A B^T on wgmma for any format of operands: shared by gemm_hopper and the kernels like it. A
// thread of the producer warpgroup loads tiles into a ring of STAGES, on and on through all tiles
// of C that the block has. Two consumer warpgroups multiply, 64 x BN results each. The blocks of a
// cluster lie one below the other and share the tile of B. Sums leave through shared memory, by
// TMA, while the tensor cores have the next tile's products.

#pragma once

#ifndef CLUSTER
#define CLUSTER 2 // blocks, one below the other
#endif
#ifndef BAND
#define BAND (16 / CLUSTER) // 16 rows of tiles are visited together, column by column
#endif

#include "cluster_mbarrier.cuh"
#include "ptx.cuh"
#include "tile_order.cuh"
#include "tma.cuh"
#include "tma_multicast.cuh"
#include "tma_store.cuh"
#include "wgmma.cuh"

#ifndef STAGES
#define STAGES 4
#endif
#if CLUSTER > 1
#define CLUSTER_OF_KERNEL __cluster_dims__(CLUSTER)
#else
#define CLUSTER_OF_KERNEL
#endif

constexpr int BM = 128, BN = 256;
constexpr int kConsumers = 256, kThreads = kConsumers + 128;
constexpr int kRowBytes = 128; // of a tile: as far as the swizzle reaches
constexpr int kTileA = BM * kRowBytes, kTileB = BN * kRowBytes, kStage = kTileA + kTileB;
constexpr int kPartB = BN / CLUSTER; // rows of B that a block loads for all
constexpr int kBox = 16 * kRowBytes; // of C: 16 rows, which a warp stores at once
constexpr int kBoxes = 2;            // of a warp, in turn
constexpr int kPause = 2;            // steps from a box to the next: many at once delay loads
constexpr int kPacked = 16;          // registers of a thread that hold what goes into a box

// The next stage of the ring, and the parity of its phase.
struct Ring {
    int stage = 0;
    unsigned phase = 0;

    __device__ void advance()
    {
        stage = stage + 1 == STAGES ? 0 : stage + 1;
        phase ^= stage == 0;
    }
};

// All threads of all blocks of the cluster.
__device__ inline void wait_for_cluster()
{
#if CLUSTER > 1
    __syncwarp();
    cluster_arrive();
    cluster_wait();
#else
    __syncthreads();
#endif
}

// prefetch.tensormap: the first copy will not wait for the tensor map itself.
__device__ inline void prefetch_tensor_map(const TensorMap *map)
{
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

// barrier.sync: of the 128 threads of a consumer warpgroup.
__device__ inline void group_barrier(int group)
{
    asm volatile("barrier.sync %0, 128;" ::"r"(group + 1) : "memory");
}

// Format has the type Sum, kBytes of an operand, kColumns of C in a box; multiply(), pack() from the
// sums of a box to kPacked registers, and store() from there to the box; and kLater, how many boxes
// of a tile stay in registers until the products of the next tile have begun, if there is one.
template <class Format>
__device__ inline void hopper_gemm(const TensorMap *A, const TensorMap *B, const TensorMap *C,
                                   int M, int N, int K, const Format &format)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    __shared__ unsigned long long barriers[2 * STAGES];
    const unsigned stages = shared_address(memory), boxes = stages + STAGES * kStage;
    const unsigned full = shared_address(barriers), empty = full + STAGES * 8;
    if (threadIdx.x == 0) {
        prefetch_tensor_map(A);
        prefetch_tensor_map(B);
        for (int i = 0; i < STAGES; ++i) {
            mbarrier_init(full + i * 8, 1);
            mbarrier_init(empty + i * 8, CLUSTER * kConsumers / 128); // the groups of all blocks
        }
        mbarriers_are_ready();
    }
    wait_for_cluster();                               // the barriers of all blocks are made
    constexpr int kStep = kRowBytes / Format::kBytes; // elements along K
    const int down = (M + CLUSTER * BM - 1) / (CLUSTER * BM), across = (N + BN - 1) / BN;
    const int tiles = down * across, steps = (K + kStep - 1) / kStep;
    const int first = blockIdx.x / CLUSTER, clusters = gridDim.x / CLUSTER;
    Ring ring;

    if (threadIdx.x >= kConsumers) { // the producer
        fewer_registers<40>();
        const int from = cluster_rank() * kPartB; // rows of a tile of B
        for (int tile = first; threadIdx.x == kConsumers && tile < tiles; tile += clusters) {
            const Place place(tile, down, across);
            const int row = (place.row * CLUSTER + cluster_rank()) * BM, column = place.column * BN;
#pragma unroll 1
            for (int step = 0; step < steps; ++step, ring.advance()) {
                const unsigned to = stages + ring.stage * kStage, arrived = full + ring.stage * 8;
                mbarrier_wait(empty + ring.stage * 8, ring.phase ^ 1); // passes in the first lap
                mbarrier_expect(arrived, kStage);                      // all of B, from all blocks
                tma_load(to, A, step * kStep, row, arrived);
                if (CLUSTER == 1) {
                    tma_load(to + kTileA, B, step * kStep, column, arrived);
                } else {
                    tma_load_multicast(to + kTileA + from * kRowBytes, B, step * kStep,
                                       column + from, arrived, (1 << CLUSTER) - 1);
                }
            }
        }
    } else { // the consumers
        more_registers<232>();
        const int in_group = threadIdx.x % 128, lane = in_group % 32, warp = threadIdx.x / 32;
        const int group_row = warp / 4 * 64;
        const unsigned box = boxes + warp * kBoxes * kBox;
        const unsigned empty_there = address_in_block(empty, in_group % CLUSTER);
        auto release = [&](int stage) { // wgmma_wait speaks for the group: a thread for each block
            if (in_group < CLUSTER) {
                mbarrier_arrive_there(empty_there + stage * 8);
            }
        };
        constexpr int kAll = BN / Format::kColumns, kNow = kAll - Format::kLater; // boxes
        unsigned packed[kAll][kPacked];
        int row = 0, column = 0; // of the results in `packed`
        auto store = [&](int i, bool last) {
            // After its last tile a warp has more boxes: where its rows of A were.
            const unsigned at =
                last ? stages + i % STAGES * kStage + warp * kBox : box + i % kBoxes * kBox;
            if (lane == 0 && !last) {
                tma_wait_read<kBoxes - 1>(); // the box may be written again
            } else if (lane == 0 && i >= STAGES) {
                tma_wait_read<STAGES - 1>();
            }
            __syncwarp();
            Format::store(at, packed[i]);
            writes_are_ready();
            __syncwarp();
            if (lane == 0) {
                tma_store(C, column + i * Format::kColumns, row, at);
                tma_commit();
            }
        };
        for (int tile = first; tile < tiles; tile += clusters) {
            typename Format::Sum sum[BN / 2];
            int before = 0; // the stage of the step before
            for (int step = 0; step < steps; ++step, ring.advance()) {
                const unsigned at = stages + ring.stage * kStage;
                const unsigned long long a = wgmma_tile(at + group_row * kRowBytes);
                const unsigned long long b = wgmma_tile(at + kTileA);
                mbarrier_wait(full + ring.stage * 8, ring.phase);
                wgmma_fence();
#pragma unroll
                for (int k = 0; k < 4; ++k) { // 32 bytes of every row
                    Format::multiply(sum, a + k * 2, b + k * 2, step > 0 || k > 0);
                }
                wgmma_commit();
#pragma unroll
                for (int i = kNow; i < kAll; ++i) { // once two steps are under way
                    if (step == min(1 + (i - kNow) * kPause, steps - 1) && tile != first) {
                        store(i, false);
                    }
                }
                if (step == steps - 1) { // the divisions pass under products
                    const Place place(tile, down, across);
                    row = (place.row * CLUSTER + cluster_rank()) * BM + warp * 16;
                    column = place.column * BN;
                }
                wgmma_wait<1>();
                if (step > 0) {
                    release(before);
                }
                before = ring.stage;
            }
            wgmma_wait<0>();
            release(before);
            keep_in_order(sum);

            const bool last = tile + clusters >= tiles;
            if (last) { // all warps of the group have read their rows of A
                group_barrier(warp / 4);
            }
#pragma unroll
            for (int i = 0; i < kAll; ++i) {
                format.pack(packed[i], &sum[i * Format::kColumns / 2], column + i * Format::kColumns);
                if (i < kNow || last) {
                    store(i, last);
                }
            }
        }
        if (lane == 0) {
            tma_wait_read<0>();
        }
    }
    wait_for_cluster(); // others may still arrive at the barriers here
}
