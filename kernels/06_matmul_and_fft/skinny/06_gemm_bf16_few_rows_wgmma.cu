// C = A B^T for row-major bf16 matrices, A (M x K) with few rows, B (N x K), C (M x N); sums in fp32.
// Any M and N; K a multiple of 8. A and B come as tensor maps with boxes of ROWS x 64 and BN x 64
// and a swizzle of 128 bytes. B is read once for each ROWS rows of A.
// Adds to gemm_bf16_few_rows_tma: wgmma. Four warps multiply 64 rows of B by all rows of A, both
// straight from shared memory, where each warp had fetched all of A for 16 rows of B.
// Limit: memory bandwidth. sm_90a only.
// grid (ceil(N / BN), CLUSTER, ceil(M / ROWS)), block (BN * 2), dynamic shared STAGES * (BN + ROWS) * 128

#include <cuda_bf16.h>
#include "cluster.cuh"
#include "ptx.cuh"
#include "tma.cuh"
#include "wgmma.cuh"

#ifndef ROWS
#define ROWS 16 // of A that a block has: 16, 32 or 64
#endif
#ifndef BN
#define BN 64 // rows of B, and columns of C, that a block has: 64 for each four warps
#endif
#ifndef STAGES
#define STAGES 10
#endif
#ifndef CLUSTER
#define CLUSTER 2 // slices of K
#endif
#ifndef BLOCKS
#define BLOCKS 2 // that share a multiprocessor: caps the registers
#endif

constexpr int BK = 64; // elements of a row in shared memory: 128 bytes
constexpr int kThreads = BN * 2;
constexpr int kTileB = BN * BK * 2; // bytes
constexpr int kStage = kTileB + ROWS * BK * 2;
constexpr int kPart = ROWS / CLUSTER; // rows of C that a block adds up
static_assert(BN % 64 == 0 && ROWS % CLUSTER == 0, "rows come out even");
static_assert(STAGES * kStage >= ROWS * BN * 4, "the sums fit where the tiles were");

// st.shared::cluster: a float to an address of address_in_block.
__device__ inline void store_cluster(unsigned to, float value)
{
    asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(to), "f"(value) : "memory");
}

extern "C" __global__ void __cluster_dims__(1, CLUSTER) __launch_bounds__(kThreads, BLOCKS)
    gemm_bf16_few_rows_wgmma(const __grid_constant__ TensorMap A,
                             const __grid_constant__ TensorMap B, __nv_bfloat16 *C, int M, int N,
                             int K)
{
    extern __shared__ __align__(1024) float4 tiles[]; // the swizzle counts from multiples of 1024
    __shared__ unsigned long long barriers[STAGES];
    unsigned stages = shared_address(tiles); // of each stage a tile of B, then one of A
    unsigned full = shared_address(barriers);
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int column = blockIdx.x * BN, row = blockIdx.z * ROWS; // the first of the block's
    int slice = cluster_rank();
    int all_steps = (K + BK - 1) / BK;
    int begin = (int)((long long)all_steps * slice / CLUSTER);
    int steps = (int)((long long)all_steps * (slice + 1) / CLUSTER) - begin;

    auto copy_tiles = [&](int step, int stage) { // by one thread
        unsigned tile = stages + stage * kStage, barrier = full + stage * 8;
        mbarrier_expect(barrier, kStage);
        tma_load(tile, &B, (begin + step) * BK, column, barrier);
        tma_load(tile + kTileB, &A, (begin + step) * BK, row, barrier);
    };
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; ++i) {
            mbarrier_init(full + i * 8, 1);
        }
        mbarriers_are_ready();
        for (int step = 0; step < STAGES - 1 && step < steps; ++step) {
            copy_tiles(step, step);
        }
    }

    float sum[ROWS / 2] = {};
    int stage = 0;
    unsigned phase = 0;
    for (int step = 0; step < steps; ++step) {
        __syncthreads(); // the barriers are made, the stage before has been read
        if (threadIdx.x == 0 && step + STAGES - 1 < steps) {
            copy_tiles(step + STAGES - 1, stage == 0 ? STAGES - 1 : stage - 1);
        }
        mbarrier_wait(full + stage * 8, phase);
        unsigned tile_b = stages + stage * kStage, tile_a = tile_b + kTileB;
        wgmma_fence();
#pragma unroll
        for (int k = 0; k < BK / 16; ++k) {
            wgmma_bf16(sum, wgmma_tile(tile_b + warp / 4 * 64 * 128) + k * 2,
                       wgmma_tile(tile_a) + k * 2, 1);
        }
        wgmma_commit();
        wgmma_wait<0>();
        keep_in_order(sum);
        if (++stage == STAGES) {
            stage = 0;
            phase ^= 1;
        }
    }

    // Row r of the sums goes to block r / kPart of the cluster, after those of the slices before.
    cluster_arrive();
    cluster_wait(); // no block needs its tiles any more
#pragma unroll
    for (int n = 0; n < ROWS / 2; ++n) {
        int in_row = n / 4 * 8 + lane % 4 * 2 + n % 2;
        int in_column = warp * 16 + lane / 4 + n / 2 % 2 * 8;
        unsigned place = stages + ((slice * kPart + in_row % kPart) * BN + in_column) * 4;
        store_cluster(address_in_block(place, in_row / kPart), sum[n]);
    }
    cluster_arrive();
    cluster_wait(); // all slices of this block's rows are here
    const float *sums = reinterpret_cast<const float *>(tiles);
    for (int i = threadIdx.x; i < kPart * BN; i += kThreads) {
        int in_row = row + slice * kPart + i / BN, in_column = column + i % BN;
        if (in_row < M && in_column < N) {
            float total = 0.0f;
#pragma unroll
            for (int other = 0; other < CLUSTER; ++other) {
                total += sums[other * kPart * BN + i];
            }
            C[(size_t)in_row * N + in_column] = __float2bfloat16_rn(total);
        }
    }
}
