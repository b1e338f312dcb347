// C = A B^T for row-major matrices: A (M x K) and B (N x K) in bf16, C (M x N) in fp32. K is a
// multiple of eight. Boxes of A are 64 x 64, of B 32 x 64, with a swizzle of 128 bytes; a block has
// a tile of 64 x 32. Warp 4 loads, through a ring of two stages; warps 0 to 3 multiply.
// grid (ceil(N / 32), ceil(M / 64)), block (160), dynamic shared 0

#include "ptx.cuh"
#include "tma.cuh"
#include "wgmma.cuh"

constexpr int kStages = 2, kTileA = 64 * 128, kTileB = 32 * 128; // bytes

extern "C" __global__ void consumer_loop(const __grid_constant__ TensorMap A,
                                         const __grid_constant__ TensorMap B, float *C, int M,
                                         int N, int K)
{
    __shared__ __align__(1024) unsigned char a[kStages][kTileA], b[kStages][kTileB];
    __shared__ unsigned long long full[kStages], empty[kStages];
    const int steps = (K + 63) / 64, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int first_row = blockIdx.y * 64, first_column = blockIdx.x * 32;
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < kStages; ++stage) {
            mbarrier_init(shared_address(&full[stage]), 1);
            mbarrier_init(shared_address(&empty[stage]), 4); // one arrival of each warp
        }
        mbarriers_are_ready();
    }
    __syncthreads();
    if (warp == 4) {
        for (int step = 0; lane == 0 && step < steps; ++step) {
            const int stage = step % kStages, lap = step / kStages;
            mbarrier_wait(shared_address(&empty[stage]), lap % 2 ^ 1);
            mbarrier_expect(shared_address(&full[stage]), kTileA + kTileB);
            tma_load(shared_address(a[stage]), &A, step * 64, first_row,
                     shared_address(&full[stage]));
            tma_load(shared_address(b[stage]), &B, step * 64, first_column,
                     shared_address(&full[stage]));
        }
        return;
    }
    float sum[16];
    for (int step = 0; step < steps; ++step) {
        const int stage = step % kStages, lap = step / kStages;
        // TODO: wait for the stage, multiply it in four wgmma_bf16(sum, tile of A, tile of B, add),
        // of 16 columns each, wait for them, and free the stage
        // SOLUTION
        mbarrier_wait(shared_address(&full[stage]), lap % 2);
        wgmma_fence();
        for (int k = 0; k < 4; ++k) {
            wgmma_bf16(sum, wgmma_tile(shared_address(a[stage])) + 2 * k,
                       wgmma_tile(shared_address(b[stage])) + 2 * k, step > 0 || k > 0);
        }
        wgmma_commit();
        wgmma_wait<0>();
        if (lane == 0) {
            mbarrier_arrive(shared_address(&empty[stage]));
        }
        // END
    }
    keep_in_order(sum); // no sum is read before the wait
    for (int i = 0; i < 16; ++i) {
        const int row = first_row + warp * 16 + lane / 4 + i / 2 % 2 * 8;
        const int column = first_column + i / 4 * 8 + lane % 4 * 2 + i % 2;
        if (row < M && column < N) {
            C[(size_t)row * N + column] = sum[i];
        }
    }
}
