// D = A B^T for one tile: row-major bf16 matrices A (128 x 64) and B (COLUMNS x 64), D (128 x
// COLUMNS) in fp32. COLUMNS is 32, 64 or 128. The tensor maps of A and B have boxes of 128 x 64
// and COLUMNS x 64, and a swizzle of 128 bytes.
// The sums are in tensor memory. One thread starts four products of 16 steps of K, a commit tells
// an mbarrier of their end, and each of four warps fetches its own 32 lanes.
// Limit: everything happens once, one thing after the other.
// grid (1), block (128), dynamic shared 0

#include "ptx.cuh"
#include "tcgen05.cuh"

#ifndef COLUMNS
#define COLUMNS 64
#endif

constexpr int kRows = 128, kRowBytes = 128; // of a box: 64 bf16 numbers in a row

extern "C" __global__ void __launch_bounds__(128)
    umma_tile(const __grid_constant__ TensorMap A, const __grid_constant__ TensorMap B, float *D)
{
    __shared__ __align__(1024) unsigned char a[kRows * kRowBytes], b[COLUMNS * kRowBytes];
    __shared__ unsigned long long arrived, done;
    __shared__ unsigned allocated;
    const int warp = threadIdx.x / 32;
    if (threadIdx.x == 0) {
        mbarrier_init(shared_address(&arrived), 1);
        mbarrier_init(shared_address(&done), 1);
        mbarriers_are_ready();
    }
    if (warp == 0) {
        tmem_alloc<1>(shared_address(&allocated), COLUMNS);
    }
    __syncthreads();
    const unsigned sums = allocated; // the address of lane 0, first column

    if (warp == 0 && elected()) {
        mbarrier_expect(shared_address(&arrived), sizeof(a) + sizeof(b));
        tma_load(shared_address(a), &A, 0, 0, shared_address(&arrived));
        tma_load(shared_address(b), &B, 0, 0, shared_address(&arrived));
        mbarrier_wait(shared_address(&arrived), 0);
        for (int k = 0; k < 4; ++k) { // 16 numbers, 32 bytes, along K
            umma<1>(sums, umma_tile(shared_address(a)) + 2 * k,
                    umma_tile(shared_address(b)) + 2 * k, umma_bf16(kRows, COLUMNS), k > 0);
        }
        umma_commit(shared_address(&done));
    }
    __syncwarp();
    mbarrier_wait(shared_address(&done), 0);
    tmem_after_sync();

    const unsigned own = sums + (warp * 32 << 16); // lanes 32 warp on
    for (int column = 0; column < COLUMNS; column += 16) {
        unsigned value[16];
        tmem_load_16(value, own + column);
        tmem_wait_load(value);
        for (int i = 0; i < 16; ++i) {
            D[threadIdx.x * COLUMNS + column + i] = __uint_as_float(value[i]);
        }
    }
    __syncthreads(); // all have fetched
    if (warp == 0) {
        tmem_dealloc<1>(sums, COLUMNS);
    }
}
