// D = A B^T for bf16 matrices A (128 x K) and B (32 x K), both with K contiguous and a multiple of
// 64, and D (128 x 32) in fp32. Warp 4 loads through a ring of two stages, warp 5 multiplies, warps
// 0 to 3 fetch the sums.
// grid (1), block (192), dynamic shared 0

#include "ptx.cuh"
#include "tcgen05.cuh"

constexpr int kColumns = 32, kStages = 2;

extern "C" __global__ void multiplying_thread(const __grid_constant__ TensorMap A,
                                              const __grid_constant__ TensorMap B, float *D, int K)
{
    __shared__ __align__(1024) unsigned char a[kStages][128 * 128], b[kStages][kColumns * 128];
    __shared__ unsigned long long full[kStages], empty[kStages], done;
    __shared__ unsigned allocated;
    const int warp = threadIdx.x / 32, steps = K / 64;
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < kStages; ++stage) {
            mbarrier_init(shared_address(&full[stage]), 1);
            mbarrier_init(shared_address(&empty[stage]), 1);
        }
        mbarrier_init(shared_address(&done), 1);
        mbarriers_are_ready();
    }
    if (warp == 5) {
        tmem_alloc<1>(shared_address(&allocated), kColumns);
    }
    __syncthreads();
    const unsigned sums = allocated;

    if (warp == 4 && elected()) {
        for (int step = 0; step < steps; ++step) {
            const int stage = step % kStages, lap = step / kStages;
            const unsigned barrier = shared_address(&full[stage]);
            mbarrier_wait(shared_address(&empty[stage]), lap % 2 ^ 1);
            mbarrier_expect(barrier, sizeof(a[0]) + sizeof(b[0]));
            tma_load(shared_address(a[stage]), &A, step * 64, 0, barrier);
            tma_load(shared_address(b[stage]), &B, step * 64, 0, barrier);
        }
    } else if (warp == 5 && elected()) {
        // TODO: for each step wait for its boxes, start the four products of 16 numbers along K,
        // and let them arrive at `empty` when they are done. After the last step let them arrive at
        // `done`
        // SOLUTION
        for (int step = 0; step < steps; ++step) {
            const int stage = step % kStages, lap = step / kStages;
            mbarrier_wait(shared_address(&full[stage]), lap % 2);
            tmem_after_sync();
            for (int k = 0; k < 4; ++k) {
                umma<1>(sums, umma_tile(shared_address(a[stage])) + 2 * k,
                        umma_tile(shared_address(b[stage])) + 2 * k, umma_bf16(128, kColumns),
                        step + k > 0);
            }
            umma_commit(shared_address(&empty[stage]));
        }
        umma_commit(shared_address(&done));
        // END
    } else if (warp < 4) {
        mbarrier_wait(shared_address(&done), 0);
        tmem_after_sync();
        for (int column = 0; column < kColumns; column += 16) {
            unsigned value[16];
            tmem_load_16(value, sums + (warp * 32 << 16) + column);
            tmem_wait_load(value);
            for (int i = 0; i < 16; ++i) {
                D[threadIdx.x * kColumns + column + i] = __uint_as_float(value[i]);
            }
        }
    }
    __syncwarp();
    __syncthreads();
    if (warp == 5) {
        tmem_dealloc<1>(sums, kColumns);
    }
}
