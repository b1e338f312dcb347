// C = A B^T for row-major bf16 matrices, A (M x K), B (N x K), C (M x N); sums in fp32. Any M; N
// and K multiples of 8. A and B come as tensor maps with boxes of BM x 64 and BN x 64, swizzle 128
// bytes.
// Adds to gemm_two_consumers blocks that stay: each takes tile after tile of C, and its producer
// goes on to the next tile while the consumers store this one. Blocks that run together have tiles
// that lie together, so that L2 serves rows of A and of B to many of them.
// Limit: neighbours on the GPU load the same tile of B, each for itself.
// grid (at most the multiprocessors), block (384), dynamic shared STAGES * (BM + BN) * 128

#include "ptx.cuh"
#include "tma.cuh"
#include "wgmma.cuh"
#include "wgmma_sums.cuh"

#ifndef STAGES
#define STAGES 4
#endif
#ifndef BAND
#define BAND 16 // rows of tiles that are visited together, column by column
#endif

constexpr int BM = 128, BN = 256, BK = 64; // BK elements are 128 bytes, one row of a tile
constexpr int kConsumers = 256;            // threads in two warpgroups; the third is the producer's
constexpr int kTileA = BM * 128, kTileB = BN * 128, kStage = kTileA + kTileB; // bytes

// Where tile number `tile` begins: tiles go down a band's columns, and then to the next band.
__device__ inline int2 place_of(int tile, int tiles_down, int tiles_across)
{
    int in_band = tile % (BAND * tiles_across), head = tile / (BAND * tiles_across) * BAND;
    int height = min(tiles_down - head, BAND);
    return make_int2((head + in_band % height) * BM, in_band / height * BN); // row, column
}

extern "C" __global__ void __launch_bounds__(kConsumers + 128, 1)
    gemm_persistent(const __grid_constant__ TensorMap A, const __grid_constant__ TensorMap B,
                    __nv_bfloat16 *C, int M, int N, int K)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    __shared__ unsigned long long barriers[2 * STAGES];
    const unsigned stages = shared_address(memory);
    const unsigned full = shared_address(barriers), empty = full + STAGES * 8;
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; ++i) {
            mbarrier_init(full + i * 8, 1);
            mbarrier_init(empty + i * 8, kConsumers / 128); // one thread of each
        }
        mbarriers_are_ready();
    }
    __syncthreads();
    const int down = (M + BM - 1) / BM, across = (N + BN - 1) / BN, steps = (K + BK - 1) / BK;
    int stage = 0;
    unsigned phase = 0;
    auto next_stage = [&] { // the ring goes on from one tile of C to the next
        stage = stage + 1 == STAGES ? 0 : stage + 1;
        phase ^= stage == 0;
    };

    if (threadIdx.x >= kConsumers) { // the producer
        fewer_registers<40>();
        if (threadIdx.x > kConsumers) {
            return;
        }
        for (int tile = blockIdx.x; tile < down * across; tile += gridDim.x) {
            const int2 place = place_of(tile, down, across);
            for (int step = 0; step < steps; ++step) {
                const unsigned to = stages + stage * kStage, arrived = full + stage * 8;
                mbarrier_wait(empty + stage * 8, phase ^ 1); // passes at once in the first lap
                mbarrier_expect(arrived, kStage);
                tma_load(to, &A, step * BK, place.x, arrived);
                tma_load(to + kTileA, &B, step * BK, place.y, arrived);
                next_stage();
            }
        }
        return;
    }

    more_registers<232>(); // the consumers
    const int group_row = threadIdx.x / 128 * 64;
    for (int tile = blockIdx.x; tile < down * across; tile += gridDim.x) {
        float sum[BN / 2];
        for (int step = 0; step < steps; ++step) {
            const unsigned long long a = wgmma_tile(stages + stage * kStage + group_row * 128);
            const unsigned long long b = wgmma_tile(stages + stage * kStage + kTileA);
            mbarrier_wait(full + stage * 8, phase);
            wgmma_fence();
#pragma unroll
            for (int k = 0; k < BK / 16; ++k) { // 32 bytes of every row
                wgmma_bf16(sum, a + k * 2, b + k * 2, step > 0 || k > 0);
            }
            wgmma_commit();
            wgmma_wait<0>(); // meanwhile the other group multiplies
            if (threadIdx.x % 128 == 0) {
                mbarrier_arrive(empty + stage * 8);
            }
            next_stage();
        }
        keep_in_order(sum);
        const int2 place = place_of(tile, down, across);
        store_sums(sum, C, place.x + group_row, place.y, M, N);
    }
}
