// C = A B^T for row-major bf16 matrices: A is M x K, B is N x K, C is M x N; sums in fp32. Any M; N
// and K are multiples of eight. A and B come as tensor maps with boxes of 128 x 64 and a swizzle of
// 128 bytes.
// Adds to gemm_wgmma a ring of STAGES pairs of tiles: loads run ahead of the products, and a product
// is still running when the next one is issued.
// Limit: a barrier of all warps for every step, after which one of them loads.
// grid (ceil(N / 128), ceil(M / 128)), block 128, dynamic shared STAGES * 32768

#include <cuda_bf16.h>
#include "ptx.cuh"
#include "tma.cuh"
#include "wgmma.cuh"
#include "wgmma_sums.cuh"

#ifndef STAGES
#define STAGES 3
#endif

constexpr int BM = 128, BN = 128, BK = 64;
constexpr int kParts = BM / 64;
constexpr int kTileA = BM * 128, kStage = (BM + BN) * 128; // bytes

extern "C" __global__ void __launch_bounds__(128)
    gemm_stages(const __grid_constant__ TensorMap A, const __grid_constant__ TensorMap B,
                __nv_bfloat16 *C, int M, int N, int K)
{
    extern __shared__ __align__(1024) unsigned char tiles[];
    __shared__ unsigned long long full[STAGES];
    const int first_row = blockIdx.y * BM, first_column = blockIdx.x * BN;
    const int steps = (K + BK - 1) / BK;
    auto load = [&](int step) {
        if (threadIdx.x == 0 && step < steps) {
            const unsigned tile_a = shared_address(tiles) + step % STAGES * kStage;
            const unsigned barrier = shared_address(&full[step % STAGES]);
            mbarrier_expect(barrier, kStage);
            tma_load(tile_a, &A, step * BK, first_row, barrier);
            tma_load(tile_a + kTileA, &B, step * BK, first_column, barrier);
        }
    };
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; ++stage) {
            mbarrier_init(shared_address(&full[stage]), 1);
        }
        mbarriers_are_ready();
    }
    __syncthreads();
    for (int step = 0; step < STAGES - 1; ++step) {
        load(step);
    }

    float sum[kParts][BN / 2];
    for (int step = 0; step < steps; ++step) {
        const unsigned tile_a = shared_address(tiles) + step % STAGES * kStage;
        mbarrier_wait(shared_address(&full[step % STAGES]), step / STAGES % 2);
        wgmma_fence();
#pragma unroll
        for (int k = 0; k < BK / 16; ++k) {
#pragma unroll
            for (int part = 0; part < kParts; ++part) {
                wgmma_bf16(sum[part], wgmma_tile(tile_a + part * 64 * 128) + 2 * k,
                           wgmma_tile(tile_a + kTileA) + 2 * k, step > 0 || k > 0);
            }
        }
        wgmma_commit();
        wgmma_wait<1>(); // the products of the step before are done,
        __syncthreads(); // in all four warps: its stage may be overwritten
        load(step + STAGES - 1);
    }
    wgmma_wait<0>();
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
        keep_in_order(sum[part]); // no sum is read before the wait
        store_sums(sum[part], C, first_row + part * 64, first_column, M, N);
    }
}
