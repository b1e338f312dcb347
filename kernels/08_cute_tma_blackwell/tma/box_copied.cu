// out = what one TMA load leaves in shared memory: ELEMENTS 32-bit words, in the order of their
// addresses. The box begins at (column, row) of the matrix, which may lie outside of it; column is a
// multiple of 16 bytes.
// One thread starts the copy, and everybody waits for the bytes; the rest is for looking.
// Limit: the latency of one copy.
// grid 1, block (128), dynamic shared 0

#include "ptx.cuh"
#include "tma.cuh"

#ifndef ELEMENTS
#define ELEMENTS 256 // of 4 bytes, in the box
#endif

extern "C" __global__ void box_copied(const __grid_constant__ TensorMap matrix, unsigned *out,
                                      int column, int row)
{
    __shared__ __align__(1024) unsigned tile[ELEMENTS]; // the swizzle counts from multiples of 1024
    __shared__ unsigned long long arrived;
    unsigned barrier = shared_address(&arrived);
    if (threadIdx.x == 0) {
        mbarrier_init(barrier, 1);
        mbarriers_are_ready();
        mbarrier_expect(barrier, sizeof(tile));
        tma_load(shared_address(tile), &matrix, column, row, barrier);
    }
    __syncthreads(); // the barrier is made
    mbarrier_wait(barrier, 0);
    for (int i = threadIdx.x; i < ELEMENTS; i += blockDim.x) {
        out[i] = tile[i];
    }
}
