// C = A B^T for row-major bf16 matrices, A (M x K), B (N x K), C (M x N); sums in fp32. Any M; N
// and K multiples of 8. A and B come as tensor maps with boxes of BM x 64 and BN x 64, swizzle 128
// bytes.
// Adds warp specialization to gemm_stages: a thread of one warpgroup only starts copies, as far
// ahead as the ring of STAGES allows, and another warpgroup only multiplies. `full` says that a
// stage has arrived, `empty` that it has been read; no barrier stops all threads. setmaxnreg moves
// registers from the producer to the consumer.
// Limit: one group of 128 x 128 results on a multiprocessor; while it waits or stores, no
// warp multiplies.
// grid (ceil(N / BN), ceil(M / BM)), block (256), dynamic shared STAGES * (BM + BN) * 128

#include "ptx.cuh"
#include "tma.cuh"
#include "wgmma.cuh"
#include "wgmma_sums.cuh"

#ifndef STAGES
#define STAGES 5
#endif

constexpr int BM = 128, BN = 128, BK = 64; // BK elements are 128 bytes, one row of a tile
constexpr int kConsumers = 128;            // threads; as many more are the producer's warpgroup
constexpr int kTileA = BM * 128, kTileB = BN * 128, kStage = kTileA + kTileB; // bytes

extern "C" __global__ void __launch_bounds__(kConsumers + 128, 1)
    gemm_producer(const __grid_constant__ TensorMap A, const __grid_constant__ TensorMap B,
                  __nv_bfloat16 *C, int M, int N, int K)
{
    extern __shared__ __align__(1024) unsigned char tiles[];
    __shared__ unsigned long long barriers[2 * STAGES];
    const unsigned stages = shared_address(tiles);
    const unsigned full = shared_address(barriers), empty = full + STAGES * 8;
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; ++i) {
            mbarrier_init(full + i * 8, 1);
            mbarrier_init(empty + i * 8, 1); // the consumer, by one thread
        }
        mbarriers_are_ready();
    }
    __syncthreads();
    const int row = blockIdx.y * BM, column = blockIdx.x * BN, steps = (K + BK - 1) / BK;

    if (threadIdx.x >= kConsumers) { // the producer
        fewer_registers<40>();
        for (int step = 0; threadIdx.x == kConsumers && step < steps; ++step) {
            const int stage = step % STAGES, lap = step / STAGES;
            const unsigned tile = stages + stage * kStage, arrived = full + stage * 8;
            mbarrier_wait(empty + stage * 8, lap % 2 ^ 1); // passes at once in the first lap
            mbarrier_expect(arrived, kStage);
            tma_load(tile, &A, step * BK, row, arrived);
            tma_load(tile + kTileA, &B, step * BK, column, arrived);
        }
        return;
    }

    more_registers<232>(); // the consumer
    float sum[BM / 64][BN / 2];
    for (int step = 0; step < steps; ++step) {
        const int stage = step % STAGES, lap = step / STAGES;
        const unsigned long long a = wgmma_tile(stages + stage * kStage);
        const unsigned long long b = wgmma_tile(stages + stage * kStage + kTileA);
        mbarrier_wait(full + stage * 8, lap % 2);
        wgmma_fence();
#pragma unroll
        for (int k = 0; k < BK / 16; ++k) { // 32 bytes of every row
#pragma unroll
            for (int i = 0; i < BM / 64; ++i) { // 64 rows: 8192 bytes, in units of 16
                wgmma_bf16(sum[i], a + i * 512 + k * 2, b + k * 2, step > 0 || k > 0);
            }
        }
        wgmma_commit();
        wgmma_wait<1>(); // the products of the step before are done, in all four warps
        if (threadIdx.x == 0 && step > 0) {
            mbarrier_arrive(empty + (step - 1) % STAGES * 8);
        }
    }
    wgmma_wait<0>();
#pragma unroll
    for (int i = 0; i < BM / 64; ++i) {
        keep_in_order(sum[i]);
        store_sums(sum[i], C, row + i * 64, column, M, N);
    }
}
