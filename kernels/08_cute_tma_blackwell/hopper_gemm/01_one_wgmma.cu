// D = A B^T of bf16 tiles in shared memory: A 64 x 64, B N x 64, the sums in fp32. `held` receives
// the N / 2 sums of each thread, in the order of its registers.
// One warpgroup computes the first 16 STEPS columns of K, one wgmma each. `fields` is the matrix
// descriptor of both tiles without its start address.
// Limit: one product, and everybody waits for everything.
// grid 1, block 128, dynamic shared 0

#include "ptx.cuh"
#include "tma.cuh"
#include "wgmma.cuh"

#ifndef N
#define N 16
#endif
#ifndef STEPS
#define STEPS 4
#endif

// Start address: bits 0 to 13, without the last four bits, which are zeros.
__device__ inline unsigned long long with_start(unsigned long long fields, unsigned address)
{
    return fields | (address & 0x3ffff) >> 4;
}

extern "C" __global__ void one_wgmma(const __grid_constant__ TensorMap A,
                                     const __grid_constant__ TensorMap B, float *held,
                                     unsigned long long fields)
{
    __shared__ __align__(1024) unsigned char tile_a[64 * 128], tile_b[N * 128];
    __shared__ unsigned long long arrived;
    if (threadIdx.x == 0) {
        mbarrier_init(shared_address(&arrived), 1);
        mbarriers_are_ready();
        mbarrier_expect(shared_address(&arrived), sizeof(tile_a) + sizeof(tile_b));
        tma_load(shared_address(tile_a), &A, 0, 0, shared_address(&arrived));
        tma_load(shared_address(tile_b), &B, 0, 0, shared_address(&arrived));
    }
    __syncthreads();
    mbarrier_wait(shared_address(&arrived), 0);

    float sum[N / 2];
    wgmma_fence();
#pragma unroll
    for (int step = 0; step < STEPS; ++step) { // 16 columns, 32 bytes, further along K
        wgmma_bf16(sum, with_start(fields, shared_address(tile_a) + 32 * step),
                   with_start(fields, shared_address(tile_b) + 32 * step), step > 0);
    }
    wgmma_commit();
    wgmma_wait<0>();
    keep_in_order(sum); // the compiler may not read the sums before the wait

    for (int i = 0; i < N / 2; ++i) {
        held[threadIdx.x * (N / 2) + i] = sum[i];
    }
}
