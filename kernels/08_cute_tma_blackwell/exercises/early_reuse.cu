// D = A B^T for bf16 matrices A (128 tiles x 64) and B (32 x 64), both with K contiguous, and D (128
// tiles x 32) in fp32. One block: warp 4 loads and multiplies, tile after tile, into two accumulators
// in turn, warps 0 to 3 fetch the sums.
// grid (1), block (160), dynamic shared 0

#include "ptx.cuh"
#include "tcgen05.cuh"

constexpr int kColumns = 32;

extern "C" __global__ void early_reuse(const __grid_constant__ TensorMap A,
                                       const __grid_constant__ TensorMap B, float *D, int tiles)
{
    __shared__ __align__(1024) unsigned char a[128 * 128], b[kColumns * 128];
    __shared__ unsigned long long arrived, done[2], freed[2];
    __shared__ unsigned allocated;
    const int warp = threadIdx.x / 32;
    if (threadIdx.x == 0) {
        mbarrier_init(shared_address(&arrived), 1);
        for (int part = 0; part < 2; ++part) {
            mbarrier_init(shared_address(&done[part]), 1);
            mbarrier_init(shared_address(&freed[part]), 4);
        }
        mbarriers_are_ready();
    }
    if (warp == 4) {
        tmem_alloc<1>(shared_address(&allocated), 2 * kColumns);
    }
    __syncthreads();
    const unsigned sums = allocated;

    if (warp == 4 && elected()) {
        for (int tile = 0; tile < tiles; ++tile) {
            const int part = tile % 2, lap = tile / 2;
            if (tile > 0) { // the products of the tile before have read a and b
                mbarrier_wait(shared_address(&done[(tile - 1) % 2]), (tile - 1) / 2 % 2);
            }
            mbarrier_expect(shared_address(&arrived), sizeof(a) + sizeof(b));
            tma_load(shared_address(a), &A, 0, tile * 128, shared_address(&arrived));
            tma_load(shared_address(b), &B, 0, 0, shared_address(&arrived));
            mbarrier_wait(shared_address(&arrived), tile % 2);
            mbarrier_wait(shared_address(&freed[part]), lap % 2 ^ 1);
            tmem_after_sync();
            for (int k = 0; k < 4; ++k) {
                umma<1>(sums + part * kColumns, umma_tile(shared_address(a)) + 2 * k,
                        umma_tile(shared_address(b)) + 2 * k, umma_bf16(128, kColumns), k > 0);
            }
            umma_commit(shared_address(&done[part]));
        }
    } else if (warp < 4) {
        for (int tile = 0; tile < tiles; ++tile) {
            const int part = tile % 2, lap = tile / 2;
            mbarrier_wait(shared_address(&done[part]), lap % 2);
            // BUG
            //| tmem_after_sync();
            //| tmem_before_sync();
            // SOLUTION
            tmem_after_sync();
            // END
            for (int column = 0; column < kColumns; column += 16) {
                unsigned value[16];
                tmem_load_16(value, sums + part * kColumns + (warp * 32 << 16) + column);
                tmem_wait_load(value);
                for (int i = 0; i < 16; ++i) {
                    const size_t row = tile * 128 + threadIdx.x;
                    D[row * kColumns + column + i] = __uint_as_float(value[i]);
                }
            }
            // BUG
            // SOLUTION
            tmem_before_sync(); // what was fetched, before the arrival that says so
            // END
            __syncwarp();
            if (elected()) {
                mbarrier_arrive(shared_address(&freed[part]));
            }
        }
    }
    __syncwarp();
    __syncthreads();
    if (warp == 4) {
        tmem_dealloc<1>(sums, 2 * kColumns);
    }
}
