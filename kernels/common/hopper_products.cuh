// The GEMM of hopper_gemm.cuh for bf16 operands that are stored either way, and for results that
// need not be stored. An operand is K-major, a row for each of its M or N, as in hopper_gemm.cuh, or
// it runs *across*: a row for each K, so that wgmma transposes it. Blocks are alone, without a
// cluster.

#pragma once

#define CLUSTER 1
#include "bf16_box.cuh"
#include "hopper_gemm.cuh"
#include "wgmma_across.cuh"

constexpr int BK = 64;               // numbers of K in a stage: 128 bytes
constexpr int kSums = BN / 2;        // of a thread, for a tile
constexpr int kAcrossBox = BK * 128; // bytes of 64 rows of K and 64 columns

WGMMA(wgmma_b_across, float, "+f", 128, "m64n256k16.f32.bf16.bf16", 128, 129, 130, ", 1, 1, 0, 1")
WGMMA(wgmma_across, float, "+f", 128, "m64n256k16.f32.bf16.bf16", 128, 129, 130, ", 1, 1, 1, 1")

// Where a load writes: a K-major tile of `kRows` rows is one box, one that runs across has a box
// for every 64 of them.
template <bool kAcross, int kRows>
__device__ inline void load_operand(unsigned to, const TensorMap *from, int k, int row,
                                    unsigned arrived)
{
    if constexpr (kAcross) {
#pragma unroll
        for (int i = 0; i < kRows / 64; ++i) {
            tma_load(to + i * kAcrossBox, from, row + i * 64, k, arrived);
        }
    } else {
        tma_load(to, from, k, row, arrived);
    }
}

// C = A B, M x N with sums over K. End has kStores. If it is true it has pack(), which makes bf16 of
// a warp's 16 rows and 64 columns of sums, and kAdds: C's map takes boxes of 16 x 64, which are
// stored or added. Otherwise it has finish(), which gets a thread's sums of a tile. Both get the
// first row of the warp and the first column.
template <bool kAcrossA, bool kAcrossB, class End>
__device__ inline void hopper_product(const TensorMap *A, const TensorMap *B, const TensorMap *C,
                                      int M, int N, int K, End &end)
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
            mbarrier_init(empty + i * 8, kConsumers / 128);
        }
        mbarriers_are_ready();
    }
    __syncthreads();
    const int down = (M + BM - 1) / BM, across = (N + BN - 1) / BN;
    const int tiles = down * across, steps = (K + BK - 1) / BK, blocks = gridDim.x;
    Ring ring;

    if (threadIdx.x >= kConsumers) { // the producer
        fewer_registers<40>();
        for (int tile = blockIdx.x; threadIdx.x == kConsumers && tile < tiles; tile += blocks) {
            const Place place(tile, down, across);
#pragma unroll 1
            for (int step = 0; step < steps; ++step, ring.advance()) {
                const unsigned to = stages + ring.stage * kStage, arrived = full + ring.stage * 8;
                mbarrier_wait(empty + ring.stage * 8, ring.phase ^ 1); // at once in the first round
                mbarrier_expect(arrived, kStage);
                load_operand<kAcrossA, BM>(to, A, step * BK, place.row * BM, arrived);
                load_operand<kAcrossB, BN>(to + kTileA, B, step * BK, place.column * BN, arrived);
            }
        }
        return;
    }

    more_registers<232>(); // the consumers
    const int in_group = threadIdx.x % 128, lane = in_group % 32, warp = threadIdx.x / 32;
    const unsigned group_rows = warp / 4 * 64 * 128; // bytes: 64 rows, or a box of 64 columns
    const unsigned box = boxes + warp * kBoxes * kBox;
    auto release = [&](int stage) { // wgmma_wait speaks for the group
        if (in_group == 0) {
            mbarrier_arrive(empty + stage * 8);
        }
    };
    constexpr int kAll = BN / 64; // boxes of a warp's results
    [[maybe_unused]] unsigned packed[kAll][kPacked];
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
        store_packed_box(at, packed[i]);
        writes_are_ready();
        __syncwarp();
        if (lane == 0) {
            if constexpr (End::kAdds) {
                tma_add(C, column + i * 64, row, at);
            } else {
                tma_store(C, column + i * 64, row, at);
            }
            tma_commit();
        }
    };
    for (int tile = blockIdx.x; tile < tiles; tile += blocks) {
        float sum[kSums];
        int before = 0; // the stage of the step before
        for (int step = 0; step < steps; ++step, ring.advance()) {
            const unsigned at = stages + ring.stage * kStage;
            const unsigned long long a = wgmma_tile(at + group_rows);
            const unsigned long long b =
                kAcrossB ? wgmma_tile_across(at + kTileA, kAcrossBox) : wgmma_tile(at + kTileA);
            mbarrier_wait(full + ring.stage * 8, ring.phase);
            wgmma_fence();
#pragma unroll
            for (int k = 0; k < BK / 16; ++k) { // 16 rows of 128 bytes, or 32 bytes of every row
                const unsigned long long next_a = a + k * (kAcrossA ? 128 : 2);
                const unsigned long long next_b = b + k * (kAcrossB ? 128 : 2);
                const bool adds = step > 0 || k > 0;
                if constexpr (kAcrossA && kAcrossB) {
                    wgmma_across(sum, next_a, next_b, adds);
                } else if constexpr (kAcrossB) {
                    wgmma_b_across(sum, next_a, next_b, adds);
                } else {
                    wgmma_bf16(sum, next_a, next_b, adds);
                }
            }
            wgmma_commit();
            if constexpr (End::kStores) {
#pragma unroll
                for (int i = 0; i < kAll; ++i) { // the tile before, once two steps are under way
                    if (step == min(1 + i * kPause, steps - 1) && tile != blockIdx.x) {
                        store(i, false);
                    }
                }
            }
            if (step == steps - 1) { // the divisions pass under products
                const Place place(tile, down, across);
                row = place.row * BM + warp * 16;
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
        if constexpr (End::kStores) {
            const bool last = tile + blocks >= tiles;
            if (last) { // all warps of the group have read their rows of A
                group_barrier(warp / 4);
            }
            end.begin(row);
#pragma unroll
            for (int i = 0; i < kAll; ++i) {
                end.pack(packed[i], &sum[i * 32], row, column + i * 64);
                if (last) {
                    store(i, last);
                }
            }
        } else {
            end.finish(sum, row, column);
        }
    }
    if (lane == 0) {
        tma_wait_read<0>();
    }
}

// An end of hopper_product that stores C as bf16, or adds it to what is there.
template <bool kAdded>
struct Rounded {
    static constexpr bool kStores = true, kAdds = kAdded;

    __device__ void begin(int) {}

    __device__ void pack(unsigned (&packed)[kPacked], const float *sum, int, int) const
    {
        pack_bf16(packed, sum);
    }
};
