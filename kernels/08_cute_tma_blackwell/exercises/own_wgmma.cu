// C = A B^T for row-major matrices: A (M x K) and B (N x K) in bf16, C (M x N) in fp32. K is a
// multiple of eight. The tensor maps have boxes of 64 x 64 (A) and 32 x 64 (B), with a swizzle of
// 128 bytes and zeros past the edges. A block computes 64 x 32 of C with 64 columns of K at a time.
// "ptx.cuh" has shared_address, "tma.cuh" the loads and mbarriers, "wgmma.cuh" wgmma_tile,
// wgmma_bf16 on float sum[16], wgmma_fence, wgmma_commit, wgmma_wait<0> and keep_in_order(sum).
// The kernel is
//     extern "C" __global__ void own_wgmma(const __grid_constant__ TensorMap A,
//                                          const __grid_constant__ TensorMap B, float *C, int M,
//                                          int N, int K)
// grid (ceil(N / 32), ceil(M / 64)), block (128), dynamic shared 0

// TODO: the whole kernel, with its three headers
// SOLUTION
#include "ptx.cuh"
#include "tma.cuh"
#include "wgmma.cuh"

constexpr int kTileA = 64 * 128, kTileB = 32 * 128; // bytes

extern "C" __global__ void own_wgmma(const __grid_constant__ TensorMap A,
                                     const __grid_constant__ TensorMap B, float *C, int M, int N,
                                     int K)
{
    __shared__ __align__(1024) unsigned char a[kTileA], b[kTileB];
    __shared__ unsigned long long arrived;
    const unsigned barrier = shared_address(&arrived);
    const int first_row = blockIdx.y * 64, first_column = blockIdx.x * 32;
    if (threadIdx.x == 0) {
        mbarrier_init(barrier, 1);
        mbarriers_are_ready();
    }
    __syncthreads(); // the barrier is there

    float sum[16];
    for (int step = 0; step < (K + 63) / 64; ++step) {
        if (threadIdx.x == 0) {
            mbarrier_expect(barrier, kTileA + kTileB);
            tma_load(shared_address(a), &A, step * 64, first_row, barrier);
            tma_load(shared_address(b), &B, step * 64, first_column, barrier);
        }
        mbarrier_wait(barrier, step % 2);
        wgmma_fence();
        for (int k = 0; k < 4; ++k) {
            wgmma_bf16(sum, wgmma_tile(shared_address(a)) + 2 * k,
                       wgmma_tile(shared_address(b)) + 2 * k, step + k > 0);
        }
        wgmma_commit();
        wgmma_wait<0>(); // for all four warps, so thread 0 may load over the tiles
    }
    keep_in_order(sum);

    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int i = 0; i < 16; ++i) {
        const int row = first_row + warp * 16 + lane / 4 + i / 2 % 2 * 8;
        const int column = first_column + i / 4 * 8 + lane % 4 * 2 + i % 2;
        if (row < M && column < N) {
            C[(size_t)row * N + column] = sum[i];
        }
    }
}
// END
