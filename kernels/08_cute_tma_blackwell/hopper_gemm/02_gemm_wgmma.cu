// C = A B^T for row-major bf16 matrices: A is M x K, B is N x K, C is M x N; sums in fp32. Any M; N
// and K are multiples of eight. A and B come as tensor maps with boxes of BM x 64 and 128 x 64 and a
// swizzle of 128 bytes.
// Adds to one_wgmma a loop along K, and blocks: a warpgroup has a tile of BM x 128, load, wait,
// multiply, wait, load.
// Limit: loads and products take turns.
// grid (ceil(N / 128), ceil(M / BM)), block 128, dynamic shared (BM + 128) * 128

#include <cuda_bf16.h>
#include "ptx.cuh"
#include "tma.cuh"
#include "wgmma.cuh"
#include "wgmma_sums.cuh"

#ifndef BM
#define BM 64
#endif

constexpr int BN = 128, BK = 64;                    // 64 columns of K are rows of 128 bytes
constexpr int kParts = BM / 64;                     // 64 rows each, as many as wgmma has
constexpr int kTileA = BM * 128, kTileB = BN * 128; // bytes

extern "C" __global__ void __launch_bounds__(128)
    gemm_wgmma(const __grid_constant__ TensorMap A, const __grid_constant__ TensorMap B,
               __nv_bfloat16 *C, int M, int N, int K)
{
    extern __shared__ __align__(1024) unsigned char tiles[];
    __shared__ unsigned long long arrived;
    const unsigned tile_a = shared_address(tiles), tile_b = tile_a + kTileA;
    const unsigned barrier = shared_address(&arrived);
    const int first_row = blockIdx.y * BM, first_column = blockIdx.x * BN;
    if (threadIdx.x == 0) {
        mbarrier_init(barrier, 1);
        mbarriers_are_ready();
    }
    __syncthreads();

    float sum[kParts][BN / 2];
    const int steps = (K + BK - 1) / BK;
    for (int step = 0; step < steps; ++step) {
        if (threadIdx.x == 0) {
            mbarrier_expect(barrier, kTileA + kTileB);
            tma_load(tile_a, &A, step * BK, first_row, barrier);
            tma_load(tile_b, &B, step * BK, first_column, barrier);
        }
        mbarrier_wait(barrier, step % 2);
        wgmma_fence();
#pragma unroll
        for (int k = 0; k < BK / 16; ++k) {
#pragma unroll
            for (int part = 0; part < kParts; ++part) {
                wgmma_bf16(sum[part], wgmma_tile(tile_a + part * 64 * 128) + 2 * k,
                           wgmma_tile(tile_b) + 2 * k, step > 0 || k > 0);
            }
        }
        wgmma_commit();
        wgmma_wait<0>();
        __syncthreads(); // all four warps have multiplied: the tiles may be overwritten
    }
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
        keep_in_order(sum[part]); // no sum is read before the wait
        store_sums(sum[part], C, first_row + part * 64, first_column, M, N);
    }
}
