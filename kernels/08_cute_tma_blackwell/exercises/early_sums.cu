// C = scale * A B^T + D E^T for row-major matrices in bf16: A and D (M x 64), B and E (N x 64); C
// (M x N) in fp32. Boxes of A and D are 64 x 64, of B and E 32 x 64, with a swizzle of 128 bytes.
// grid (ceil(N / 32), ceil(M / 64)), block (128), dynamic shared 0

#include "ptx.cuh"
#include "tma.cuh"
#include "wgmma.cuh"

constexpr int kTileA = 64 * 128, kTileB = 32 * 128; // bytes

extern "C" __global__ void early_sums(const __grid_constant__ TensorMap A,
                                      const __grid_constant__ TensorMap B,
                                      const __grid_constant__ TensorMap D,
                                      const __grid_constant__ TensorMap E, float *C, float scale,
                                      int M, int N)
{
    __shared__ __align__(1024) unsigned char a[kTileA], b[kTileB], d[kTileA], e[kTileB];
    __shared__ unsigned long long arrived;
    const unsigned barrier = shared_address(&arrived);
    const int first_row = blockIdx.y * 64, first_column = blockIdx.x * 32;
    if (threadIdx.x == 0) {
        mbarrier_init(barrier, 1);
        mbarriers_are_ready();
        mbarrier_expect(barrier, 2 * (kTileA + kTileB));
        tma_load(shared_address(a), &A, 0, first_row, barrier);
        tma_load(shared_address(b), &B, 0, first_column, barrier);
        tma_load(shared_address(d), &D, 0, first_row, barrier);
        tma_load(shared_address(e), &E, 0, first_column, barrier);
    }
    __syncthreads();
    mbarrier_wait(barrier, 0);

    float sum[16];
    wgmma_fence();
    for (int k = 0; k < 4; ++k) {
        wgmma_bf16(sum, wgmma_tile(shared_address(a)) + 2 * k,
                   wgmma_tile(shared_address(b)) + 2 * k, k > 0);
    }
    wgmma_commit();
    // BUG
    //| for (int i = 0; i < 16; ++i) {
    //|     sum[i] *= scale;
    //| }
    //| wgmma_fence();
    // SOLUTION
    wgmma_wait<0>();
    keep_in_order(sum);
    for (int i = 0; i < 16; ++i) {
        sum[i] *= scale;
    }
    wgmma_fence();
    // END
    for (int k = 0; k < 4; ++k) {
        wgmma_bf16(sum, wgmma_tile(shared_address(d)) + 2 * k,
                   wgmma_tile(shared_address(e)) + 2 * k, 1);
    }
    // BUG
    //| wgmma_wait<0>();
    //| wgmma_commit();
    // SOLUTION
    wgmma_commit();
    wgmma_wait<0>();
    // END
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
