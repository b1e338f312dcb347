// C = A B^T for row-major bf16 matrices: A (M x K), B (N x K), C (M x N), with sums in fp32. Any M. N
// and K are multiples of 8. A, B and C come as tensor maps with boxes of 128 x 64, 128 x 64 and
// 16 x 64, swizzle 128 bytes.
// Ping-pong: each of the two consumer warpgroups computes whole tiles, 128 x 128, in turn. While one
// rounds and stores its tile, the other has the tensor cores. gemm_hopper needs a next tile for that,
// of 256 columns. Here the half of such a tile is enough.
// Limit: for as many products a smaller tile loads a third more from L2, and a fifth more from
// shared memory.
// grid (at most the multiprocessors), block (384), dynamic shared STAGES * 32768 + 32768

#include "bf16_box.cuh"
#include "ptx.cuh"
#include "tma.cuh"
#include "tma_store.cuh"
#include "wgmma.cuh"

#ifndef STAGES
#define STAGES 6
#endif
#ifndef BAND
#define BAND 16 // rows of tiles that are visited together, column by column
#endif
#include "tile_order.cuh"

constexpr int BM = 128, BN = 128, BK = 64;
constexpr int kConsumers = 256; // threads in two warpgroups. The third is the producer's
constexpr int kTileA = BM * 128, kStage = kTileA + BN * 128; // bytes
constexpr int kBox = 16 * 128, kBoxes = 2;                   // of a warp for C, in turn

// A place in the ring: its stage, and the parity of its phase.
struct Ring {
    int stage;
    unsigned phase;

    __device__ explicit Ring(int steps) : stage(steps % STAGES), phase(steps / STAGES % 2) {}

    __device__ void advance()
    {
        stage = stage + 1 == STAGES ? 0 : stage + 1;
        phase ^= stage == 0;
    }
};

extern "C" __global__ void __launch_bounds__(kConsumers + 128, 1)
    gemm_ping_pong(const __grid_constant__ TensorMap A, const __grid_constant__ TensorMap B,
                   const __grid_constant__ TensorMap C, int M, int N, int K)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    __shared__ unsigned long long barriers[2 * STAGES + 2];
    const unsigned stages = shared_address(memory), boxes = stages + STAGES * kStage;
    const unsigned full = shared_address(barriers), empty = full + STAGES * 8;
    const unsigned turn = empty + STAGES * 8; // of each group
    if (threadIdx.x == 0) {
        for (int i = 0; i < 2 * STAGES; ++i) {
            mbarrier_init(full + i * 8, 1); // a stage is read by one group
        }
        for (int i = 0; i < 2; ++i) {
            mbarrier_init(turn + i * 8, 4); // each warp of the other group has issued its products
        }
        mbarriers_are_ready();
    }
    __syncthreads();
    const int down = (M + BM - 1) / BM, across = (N + BN - 1) / BN, steps = (K + BK - 1) / BK;

    if (threadIdx.x >= kConsumers) { // the producer
        fewer_registers<40>();
        Ring ring(0);
        for (int tile = blockIdx.x; threadIdx.x == kConsumers && tile < down * across;
             tile += gridDim.x) {
            const Place place(tile, down, across);
            for (int step = 0; step < steps; ++step, ring.advance()) {
                const unsigned to = stages + ring.stage * kStage, arrived = full + ring.stage * 8;
                mbarrier_wait(empty + ring.stage * 8, ring.phase ^ 1); // passes in the first lap
                mbarrier_expect(arrived, kStage);
                tma_load(to, &A, step * BK, place.row * BM, arrived);
                tma_load(to + kTileA, &B, step * BK, place.column * BN, arrived);
            }
        }
        return;
    }

    more_registers<232>(); // the consumers
    const int in_group = threadIdx.x % 128, lane = threadIdx.x % 32;
    const int warp = __shfl_sync(~0u, threadIdx.x / 32, 0), group = warp / 4; // uniform in a warp
    const unsigned box = boxes + warp * kBoxes * kBox;
    int number = group; // of the tile, among the block's
    for (int tile = blockIdx.x + group * gridDim.x; tile < down * across;
         tile += 2 * gridDim.x, number += 2) {
        if (number > 0) { // the other group has issued all products of tile number - 1
            mbarrier_wait(turn + group * 8, (number - 1) / 2 % 2);
        }
        float sum[2][BN / 2]; // of the upper and the lower 64 rows
        int before = 0;       // the stage of the step before
        Ring ring(number * steps);
        for (int step = 0; step < steps; ++step, ring.advance()) {
            const unsigned long long a = wgmma_tile(stages + ring.stage * kStage);
            const unsigned long long b = wgmma_tile(stages + ring.stage * kStage + kTileA);
            mbarrier_wait(full + ring.stage * 8, ring.phase);
            wgmma_fence();
#pragma unroll
            for (int k = 0; k < BK / 16; ++k) { // 32 bytes of every row
                wgmma_bf16(sum[0], a + k * 2, b + k * 2, step > 0 || k > 0);
                wgmma_bf16(sum[1], a + 64 * 128 / 16 + k * 2, b + k * 2, step > 0 || k > 0);
            }
            wgmma_commit();
            wgmma_wait<1>();
            if (step > 0 && in_group == 0) {
                mbarrier_arrive(empty + before * 8);
            }
            before = ring.stage;
        }
        if (lane == 0) {
            mbarrier_arrive(turn + (1 - group) * 8);
        }
        wgmma_wait<0>();
        if (in_group == 0) {
            mbarrier_arrive(empty + before * 8);
        }
        keep_in_order(sum[0]);
        keep_in_order(sum[1]);

        const Place place(tile, down, across); // the other group multiplies now
        const int row = place.row * BM + warp % 4 * 16, column = place.column * BN;
#pragma unroll
        for (int i = 0; i < 2 * BN / 64; ++i) {
            const int half = i % 2, part = i / 2; // of the rows, of the columns
            const unsigned at = box + i % kBoxes * kBox;
            if (lane == 0) {
                tma_wait_read<kBoxes - 1>(); // the box may be written again
            }
            __syncwarp();
            store_bf16_box(at, &sum[half][part * 32]);
            writes_are_ready();
            __syncwarp();
            if (lane == 0) {
                tma_store(&C, column + part * 64, row + half * 64, at);
                tma_commit();
            }
        }
    }
    if (lane == 0) {
        tma_wait_read<0>();
    }
}
