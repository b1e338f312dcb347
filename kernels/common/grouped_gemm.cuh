// C = A B^T group by group on wgmma, shared by grouped_hopper and grouped_swiglu. As in
// hopper_gemm, a thread of the producer warpgroup loads tiles into a ring of STAGES, on and on
// through all tiles that the block has, and two consumer warpgroups multiply, 64 x BN results each.
// A row tile belongs to one expert: the table says which, and where the expert's rows end.

#pragma once

#define CLUSTER 1
#include "bf16_box.cuh"
#include "hopper_gemm.cuh"

// A tile of the walk: its expert, its first row and column of C, and the end of the expert's rows.
// BAND row tiles are visited together, column by column, whichever experts they have.
struct GroupTile {
    int expert, row, end, column;

    __device__ GroupTile(const int4 *table, int tile, int row_tiles, int across, int width)
    {
        const Place place(tile, row_tiles, across);
        const int4 entry = __ldg(table + place.row);
        expert = entry.x;
        row = entry.y;
        end = entry.z;
        column = place.column * width;
    }
};

// silu(gate) * up: exp of a large number is infinite, and 1 / infinity is 0.
__device__ inline float gated(float gate, float up)
{
    return __fdividef(gate, 1.0f + __expf(-gate)) * up;
}

// kGated: a tile has kWidth columns of the gate and the same of the other factor, and stores their
// product, and B has 2 N rows an expert.
template <bool kGated>
__device__ inline void grouped_gemm(const TensorMap *A, const TensorMap *B, const TensorMap *C,
                                    __nv_bfloat16 *rows_of_C, const int4 *table, int row_tiles,
                                    int N, int K)
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
    constexpr int kWidth = kGated ? BN / 2 : BN; // columns of C in a tile
    const int across = (N + kWidth - 1) / kWidth, steps = (K + 63) / 64;
    const int tiles = row_tiles * across;
    Ring ring;

    if (threadIdx.x >= kConsumers) { // the producer
        fewer_registers<40>();
        for (int tile = blockIdx.x; threadIdx.x == kConsumers && tile < tiles; tile += gridDim.x) {
            const GroupTile to_do(table, tile, row_tiles, across, kWidth);
            const int first = to_do.expert * (kGated ? 2 * N : N) + to_do.column; // row of B
            const int second = first + (kGated ? N : BN / 2);
#pragma unroll 1
            for (int step = 0; step < steps; ++step, ring.advance()) {
                const unsigned to = stages + ring.stage * kStage, arrived = full + ring.stage * 8;
                mbarrier_wait(empty + ring.stage * 8, ring.phase ^ 1); // passes in the first lap
                mbarrier_expect(arrived, kStage);
                tma_load(to, A, step * 64, to_do.row, arrived); // past the group: others' rows
                tma_load(to + kTileA, B, step * 64, first, arrived);
                tma_load(to + kTileA + kTileB / 2, B, step * 64, second, arrived);
            }
        }
        return;
    }

    more_registers<232>(); // the consumers
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, group_row = warp / 4 * 64;
    const unsigned box = boxes + warp * kBoxes * kBox;
    constexpr int kAll = kWidth / 64; // boxes of a warp
    unsigned packed[kAll][kPacked];
    int row = 0, end = 0, column = 0; // of the warp's results in `packed`
    auto release = [&](int stage) {
        if (threadIdx.x % 128 == 0) {
            mbarrier_arrive(empty + stage * 8);
        }
    };
    auto store = [&](int i) {
        const unsigned at = box + i % kBoxes * kBox;
        const int rows = end - row, first = column + i * 64;
        if (rows <= 0) {
            return; // the whole warp
        }
        if (lane == 0) {
            tma_wait_read<kBoxes - 1>(); // the box may be written again
        }
        __syncwarp();
        store_packed_box(at, packed[i]);
        if (rows >= 16) {
            writes_are_ready();
            __syncwarp();
            if (lane == 0) {
                tma_store(C, first, row, at);
                tma_commit();
            }
            return;
        }
        __syncwarp(); // the box has the next expert's rows as well: leave those out
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const int line = j * 4 + lane / 8, chunk = lane % 8;
            if (line < rows && first + chunk * 8 < N) {
                *reinterpret_cast<float4 *>(rows_of_C + (size_t)(row + line) * N + first +
                                            chunk * 8) =
                    load_shared_4(at + line * 128 + (chunk ^ line % 8) * 16);
            }
        }
        if (lane == 0) {
            tma_commit(); // an empty group: the next box but one waits for this one
        }
        __syncwarp();
    };
    // The boxes of the tile before leave once two steps of this one are under way.
    auto store_during = [&](int step) {
#pragma unroll
        for (int i = 0; i < kAll; ++i) {
            if (step == min(1 + i * kPause, steps - 1)) {
                store(i);
            }
        }
    };
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const GroupTile done(table, tile, row_tiles, across, kWidth);
        if (done.row + group_row >= done.end) { // the other group has all of the rows
            for (int step = 0; step < steps; ++step, ring.advance()) {
                mbarrier_wait(full + ring.stage * 8, ring.phase);
                release(ring.stage);
                store_during(step);
            }
            end = row; // nothing to store
            continue;
        }
        float sum[BN / 2];
        int before = 0; // the stage of the step before
        for (int step = 0; step < steps; ++step, ring.advance()) {
            const unsigned at = stages + ring.stage * kStage;
            const unsigned long long a = wgmma_tile(at + group_row * kRowBytes);
            const unsigned long long b = wgmma_tile(at + kTileA);
            mbarrier_wait(full + ring.stage * 8, ring.phase);
            wgmma_fence();
#pragma unroll
            for (int k = 0; k < 4; ++k) { // 32 bytes of every row
                wgmma_bf16(sum, a + k * 2, b + k * 2, step > 0 || k > 0);
            }
            wgmma_commit();
            store_during(step);
            wgmma_wait<1>();
            if (step > 0) {
                release(before);
            }
            before = ring.stage;
        }
        wgmma_wait<0>();
        release(before);
        keep_in_order(sum);
        row = done.row + group_row + warp % 4 * 16;
        end = done.end;
        column = done.column;
#pragma unroll
        for (int i = 0; i < kAll; ++i) {
            if (kGated) {
#pragma unroll
                for (int j = i * 32; j < i * 32 + 32; ++j) {
                    sum[j] = gated(sum[j], sum[j + BN / 4]);
                }
            }
            pack_bf16(packed[i], &sum[i * 32]);
        }
    }
#pragma unroll
    for (int i = 0; i < kAll; ++i) {
        store(i);
    }
    if (lane == 0) {
        tma_wait_read<0>();
    }
}
