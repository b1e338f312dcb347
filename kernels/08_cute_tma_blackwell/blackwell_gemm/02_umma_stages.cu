// D = A B^T for row-major bf16 matrices A (M x K), B (N x K) and D (M x N); any M, N and K a multiple
// of 8. The tensor maps of A and B have boxes of 128 x 64 and BN x 64, and a swizzle of 128 bytes.
// Adds to umma_tile many tiles and steps of K: one warp loads a ring of STAGES pairs of boxes, one
// warp multiplies, four fetch the sums. A commit tells the loader, too, that a stage was read.
// Limit: a block loads all of its A and B itself, and the tensor cores wait while D is stored.
// grid (ceil(N / BN), ceil(M / 128)), block (192), dynamic shared STAGES * (128 + BN) * 128

#include "ptx.cuh"
#include "tcgen05.cuh"
#include "tmem_rows.cuh"

#ifndef BN
#define BN 256
#endif
#ifndef STAGES
#define STAGES 4
#endif

constexpr int kRows = 128, kSteps = 64;                           // of D; of K in a box, 128 bytes
constexpr int kABytes = kRows * 128, kStage = kABytes + BN * 128; // bytes
constexpr int kLoader = 4, kMultiplier = 5;                       // warps; 0 to 3 store

extern "C" __global__ void __launch_bounds__(192)
    umma_stages(const __grid_constant__ TensorMap A, const __grid_constant__ TensorMap B,
                unsigned short *D, int M, int N, int K)
{
    extern __shared__ __align__(1024) unsigned char ring[];
    __shared__ unsigned long long full[STAGES], empty[STAGES], done;
    __shared__ unsigned allocated;
    const int warp = threadIdx.x / 32, steps = (K + kSteps - 1) / kSteps;
    const int first_row = blockIdx.y * kRows, first_column = blockIdx.x * BN;
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; ++stage) {
            mbarrier_init(shared_address(&full[stage]), 1);
            mbarrier_init(shared_address(&empty[stage]), 1);
        }
        mbarrier_init(shared_address(&done), 1);
        mbarriers_are_ready();
    }
    if (warp == kMultiplier) {
        tmem_alloc<1>(shared_address(&allocated), BN);
    }
    __syncthreads();
    const unsigned sums = allocated;

    if (warp == kLoader && elected()) {
        for (int step = 0; step < steps; ++step) {
            const int stage = step % STAGES, lap = step / STAGES;
            const unsigned tile = shared_address(ring) + stage * kStage;
            const unsigned barrier = shared_address(&full[stage]);
            mbarrier_wait(shared_address(&empty[stage]), lap % 2 ^ 1);
            mbarrier_expect(barrier, kStage);
            tma_load(tile, &A, step * kSteps, first_row, barrier);
            tma_load(tile + kABytes, &B, step * kSteps, first_column, barrier);
        }
    } else if (warp == kMultiplier && elected()) {
        for (int step = 0; step < steps; ++step) {
            const int stage = step % STAGES, lap = step / STAGES;
            const unsigned tile = shared_address(ring) + stage * kStage;
            mbarrier_wait(shared_address(&full[stage]), lap % 2);
            tmem_after_sync();
            for (int k = 0; k < 4; ++k) {
                umma<1>(sums, umma_tile(tile) + 2 * k, umma_tile(tile + kABytes) + 2 * k,
                        umma_bf16(kRows, BN), step + k > 0);
            }
            umma_commit(shared_address(&empty[stage])); // once they have read the stage
        }
        umma_commit(shared_address(&done));
    } else if (warp < 4) {
        mbarrier_wait(shared_address(&done), 0);
        tmem_after_sync();
        const int row = first_row + threadIdx.x;
        store_row(D + (size_t)row * N, row < M, sums + (warp * 32 << 16), first_column, BN, N);
    }
    __syncwarp(); // one lane of warps 4 and 5 was on its own
    __syncthreads();
    if (warp == kMultiplier) {
        tmem_dealloc<1>(sums, BN);
    }
}
