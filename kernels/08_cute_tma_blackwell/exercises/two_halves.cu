// D = A B^T for bf16 matrices A (256 tiles x 64) and B (64 x 64), both with K contiguous, and D (256
// tiles x 64) in fp32. A pair of blocks computes 256 rows: 128 rows of A and 32 of B in each.
// grid (2 * tiles), block (128), dynamic shared 0

#include "ptx.cuh"
#include "tcgen05.cuh"

constexpr int kColumns = 64;

extern "C" __global__ void __cluster_dims__(2)
    two_halves(const __grid_constant__ TensorMap A, const __grid_constant__ TensorMap B, float *D)
{
    __shared__ __align__(1024) unsigned char a[128 * 128], b[kColumns / 2 * 128];
    __shared__ unsigned long long arrived, done;
    __shared__ unsigned allocated;
    const int warp = threadIdx.x / 32, rank = cluster_rank();
    if (threadIdx.x == 0) {
        mbarrier_init(shared_address(&arrived), 1);
        mbarrier_init(shared_address(&done), 1);
        mbarriers_are_ready();
    }
    cluster_arrive();
    cluster_wait(); // both blocks have started, and their barriers are there
    if (warp == 0) {
        tmem_alloc<2>(shared_address(&allocated), kColumns);
        tmem_relinquish<2>();
    }
    __syncthreads();
    const unsigned sums = allocated;
    if (warp == 0 && elected()) {
        // TODO: each block loads its half of A and of B, and all bytes of both count at `arrived` of
        // the even block. That block waits for them, starts the four products for both, and lets
        // them arrive at `done` of both
        // SOLUTION
        const unsigned barrier = address_in_block(shared_address(&arrived), 0);
        if (rank == 0) {
            mbarrier_expect(barrier, 2 * (sizeof(a) + sizeof(b)));
        }
        tma_load_pair(shared_address(a), &A, 0, blockIdx.x * 128, barrier);
        tma_load_pair(shared_address(b), &B, 0, rank * 32, barrier);
        if (rank == 0) {
            mbarrier_wait(shared_address(&arrived), 0);
            for (int k = 0; k < 4; ++k) {
                umma<2>(sums, umma_tile(shared_address(a)) + 2 * k,
                        umma_tile(shared_address(b)) + 2 * k, umma_bf16(256, kColumns), k > 0);
            }
            umma_commit_pair(shared_address(&done));
        }
        // END
    }
    __syncwarp();
    mbarrier_wait(shared_address(&done), 0);
    tmem_after_sync();
    float *row = D + (size_t)(blockIdx.x * 128 + threadIdx.x) * kColumns;
    for (int column = 0; column < kColumns; column += 16) {
        unsigned value[16];
        tmem_load_16(value, sums + (warp * 32 << 16) + column);
        tmem_wait_load(value);
        for (int i = 0; i < 16; ++i) {
            row[column + i] = __uint_as_float(value[i]);
        }
    }
    cluster_arrive();
    cluster_wait(); // all have fetched, and no block ends while the other one needs it
    if (warp == 0) {
        tmem_dealloc<2>(sums, kColumns);
    }
}
