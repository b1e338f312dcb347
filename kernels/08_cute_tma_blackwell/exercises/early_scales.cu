// D = A B^T in NVFP4 for A (128 x 256 steps) and B (32 x 256 steps), numbers of E2M1, and D (128 x
// 32) in fp32. scales_a and scales_b are in UE4M3, four tiles of 512 bytes a step. One block: warp
// 4 loads, and copies scales to tensor memory; warp 5 multiplies; warps 0 to 3 fetch the sums.
// grid (1), block (192), dynamic shared 0

#include "block_scaled.cuh"

constexpr int kColumns = 32, kAllocated = 64; // 32 for sums, 16 for scales of A, 16 for those of B
constexpr int kTiles = 4, kScaleBytes = kTiles * kScaleTile;

extern "C" __global__ void early_scales(const __grid_constant__ TensorMap A,
                                        const __grid_constant__ TensorMap B,
                                        const unsigned char *scales_a,
                                        const unsigned char *scales_b, float *D, int steps)
{
    __shared__ __align__(1024) unsigned char a[128 * 128], b[kColumns * 128];
    __shared__ __align__(128) unsigned char tiles[2 * kScaleBytes];
    __shared__ unsigned long long arrived, copied, freed, done;
    __shared__ unsigned allocated;
    const int warp = threadIdx.x / 32;
    if (threadIdx.x == 0) {
        mbarrier_init(shared_address(&arrived), 1);
        mbarrier_init(shared_address(&copied), 1);
        mbarrier_init(shared_address(&freed), 1);
        mbarrier_init(shared_address(&done), 1);
        mbarriers_are_ready();
    }
    if (warp == 4) {
        tmem_alloc<1>(shared_address(&allocated), kAllocated);
    }
    __syncthreads();
    const unsigned sums = allocated, of_a = sums + kColumns, of_b = of_a + kTiles * kScaleColumns;

    if (warp == 4 && elected()) {
        for (int step = 0; step < steps; ++step) {
            const unsigned barrier = shared_address(&arrived), from = shared_address(tiles);
            mbarrier_wait(shared_address(&freed), step % 2 ^ 1); // products have read all
            tmem_after_sync();
            mbarrier_expect(barrier, sizeof(a) + sizeof(b) + sizeof(tiles));
            tma_load(shared_address(a), &A, step * 128, 0, barrier);
            tma_load(shared_address(b), &B, step * 128, 0, barrier);
            bulk_load(from, scales_a + (size_t)step * kScaleBytes, kScaleBytes, barrier);
            bulk_load(from + kScaleBytes, scales_b + (size_t)step * kScaleBytes, kScaleBytes,
                      barrier);
            mbarrier_wait(barrier, step % 2);
            for (int tile = 0; tile < 2 * kTiles; ++tile) { // those of A, then those of B
                tmem_copy_scales(of_a + tile * kScaleColumns, scale_tile(from + tile * kScaleTile));
            }
            // BUG
            //| mbarrier_arrive(shared_address(&copied));
            // SOLUTION
            umma_commit(shared_address(&copied)); // once the copies are done
            // END
        }
    } else if (warp == 5 && elected()) {
        for (int step = 0; step < steps; ++step) {
            mbarrier_wait(shared_address(&copied), step % 2);
            tmem_after_sync();
            for (int k = 0; k < 4; ++k) {
                umma_scaled_nvfp4(sums, umma_tile(shared_address(a)) + 2 * k,
                                  umma_tile(shared_address(b)) + 2 * k, umma_nvfp4(128, kColumns),
                                  of_a + k * kScaleColumns, of_b + k * kScaleColumns, step + k > 0);
            }
            umma_commit(shared_address(&freed));
        }
        umma_commit(shared_address(&done));
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
    __syncwarp(); // one lane of warps 4 and 5 was on its own
    __syncthreads();
    if (warp == 4) {
        tmem_dealloc<1>(sums, kAllocated);
    }
}
