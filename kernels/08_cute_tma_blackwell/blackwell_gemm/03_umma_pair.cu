// D = A B^T for row-major bf16 matrices A (M x K), B (N x K) and D (M x N); any M, N and K a multiple
// of 8. The tensor maps of A and B have boxes of 128 x 64 and BN / 2 x 64, swizzle 128 bytes.
// Adds to umma_stages the pair: two blocks of a cluster compute 256 x BN. Each loads and holds half
// of the rows of A and half of B; the even one starts the products for both, which read both shared
// memories and leave 128 rows of D in each tensor memory. Its commits tell both.
// Limit: the tensor cores wait while D is stored.
// grid (2 * ceil(M / 256), ceil(N / BN)), block (192), dynamic shared STAGES * (128 + BN / 2) * 128

#include "ptx.cuh"
#include "tcgen05.cuh"
#include "tmem_rows.cuh"

#ifndef BN
#define BN 256
#endif
#ifndef STAGES
#define STAGES 6
#endif

constexpr int kRows = 128, kSteps = 64; // of D for each block; of K in a box, 128 bytes
constexpr int kABytes = kRows * 128, kStage = kABytes + BN / 2 * 128; // bytes in each block
constexpr int kLoader = 4, kMultiplier = 5;                           // warps; 0 to 3 store

extern "C" __global__ void __cluster_dims__(2) __launch_bounds__(192)
    umma_pair(const __grid_constant__ TensorMap A, const __grid_constant__ TensorMap B,
              unsigned short *D, int M, int N, int K)
{
    extern __shared__ __align__(1024) unsigned char ring[];
    __shared__ unsigned long long full[STAGES], empty[STAGES], done;
    __shared__ unsigned allocated;
    const int warp = threadIdx.x / 32, rank = cluster_rank(), steps = (K + kSteps - 1) / kSteps;
    const int first_row = blockIdx.x * kRows, first_column = blockIdx.y * BN;
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; ++stage) {
            mbarrier_init(shared_address(&full[stage]), 1); // that of the even block is used
            mbarrier_init(shared_address(&empty[stage]), 1);
        }
        mbarrier_init(shared_address(&done), 1);
        mbarriers_are_ready();
    }
    cluster_arrive();
    cluster_wait(); // both blocks have started, and their barriers are there
    if (warp == kMultiplier) {
        tmem_alloc<2>(shared_address(&allocated), BN);
        tmem_relinquish<2>();
    }
    __syncthreads();
    const unsigned sums = allocated;

    if (warp == kLoader && elected()) {
        for (int step = 0; step < steps; ++step) {
            const int stage = step % STAGES, lap = step / STAGES;
            const unsigned tile = shared_address(ring) + stage * kStage;
            const unsigned barrier = address_in_block(shared_address(&full[stage]), 0);
            mbarrier_wait(shared_address(&empty[stage]), lap % 2 ^ 1);
            if (rank == 0) {
                mbarrier_expect(shared_address(&full[stage]), 2 * kStage); // of both blocks
            }
            tma_load_pair(tile, &A, step * kSteps, first_row, barrier);
            tma_load_pair(tile + kABytes, &B, step * kSteps, first_column + rank * BN / 2, barrier);
        }
        for (int step = steps; step < steps + STAGES; ++step) { // no commit comes after our end
            mbarrier_wait(shared_address(&empty[step % STAGES]), step / STAGES % 2 ^ 1);
        }
    } else if (warp == kMultiplier && rank == 0 && elected()) {
        for (int step = 0; step < steps; ++step) {
            const int stage = step % STAGES, lap = step / STAGES;
            const unsigned tile = shared_address(ring) + stage * kStage;
            mbarrier_wait(shared_address(&full[stage]), lap % 2);
            tmem_after_sync();
            for (int k = 0; k < 4; ++k) {
                umma<2>(sums, umma_tile(tile) + 2 * k, umma_tile(tile + kABytes) + 2 * k,
                        umma_bf16(2 * kRows, BN), step + k > 0);
            }
            umma_commit_pair(shared_address(&empty[stage]));
        }
        umma_commit_pair(shared_address(&done));
    } else if (warp < 4) {
        mbarrier_wait(shared_address(&done), 0);
        tmem_after_sync();
        const int row = first_row + threadIdx.x;
        store_row(D + (size_t)row * N, row < M, sums + (warp * 32 << 16), first_column, BN, N);
    }
    __syncwarp();
    cluster_arrive();
    cluster_wait(); // no block ends while the other one's products read its shared memory
    if (warp == kMultiplier) {
        tmem_dealloc<2>(sums, BN);
    }
}
