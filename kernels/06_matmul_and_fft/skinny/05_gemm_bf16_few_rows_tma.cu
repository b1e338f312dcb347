// C = A B^T for row-major bf16 matrices, A (M x K) with few rows, B (N x K), C (M x N); sums in fp32.
// Any M and N; K a multiple of 8. A and B come as tensor maps with boxes of ROWS x 64 and BN x 64
// and a swizzle of 128 bytes. B is read once for each ROWS rows of A.
// Adds to gemm_bf16_few_rows: one thread has TMA copy whole tiles, where all threads worked out
// addresses. And the slices of a tile are a cluster: each block adds up its part of the rows from the
// shared memory of all, in the order of the slices. No sums go to global memory, no block counts.
// Limit: memory bandwidth. sm_90 only.
// grid (ceil(N / BN), CLUSTER, ceil(M / ROWS)), block (BN / WM * 32), dynamic shared STAGES * (BN + ROWS) * 128

#include <cuda_bf16.h>
#include "cluster.cuh"
#include "ptx.cuh"
#include "tma.cuh"

#ifndef ROWS
#define ROWS 16 // of A that a block has: a multiple of 16, and of CLUSTER
#endif
#ifndef BN
#define BN 64 // rows of B, and columns of C, that a block has
#endif
#ifndef WM
#define WM 16 // of them, of a warp: a multiple of 16
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
constexpr int kThreads = BN / WM * 32;
constexpr int kTileB = BN * BK * 2; // bytes
constexpr int kStage = kTileB + ROWS * BK * 2;
constexpr int kPart = ROWS / CLUSTER; // rows of C that a block adds up
static_assert(ROWS % 16 == 0 && ROWS % CLUSTER == 0, "rows come out even");
static_assert(STAGES * kStage >= ROWS * BN * 4, "the sums fit where the tiles were");

// st.shared::cluster: a float to an address of address_in_block.
__device__ inline void store_cluster(unsigned to, float value)
{
    asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(to), "f"(value) : "memory");
}

// Where chunk `chunk` of row `row` of a tile begins, in bytes: TMA's swizzle of 128 bytes.
__device__ inline int place_of(int row, int chunk)
{
    return (row * 8 + (chunk ^ (row & 7))) * 16;
}

extern "C" __global__ void __cluster_dims__(1, CLUSTER) __launch_bounds__(kThreads, BLOCKS)
    gemm_bf16_few_rows_tma(const __grid_constant__ TensorMap A, const __grid_constant__ TensorMap B,
                           __nv_bfloat16 *C, int M, int N, int K)
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

    // ldmatrix: of B lanes 0-15 give the warp's 16 rows, left half, lanes 16-31 the right half; of A
    // lanes 0-7 and 16-23 give 16 rows, left half, the others the right half.
    int b_row = warp * WM + lane % 16, b_half = lane / 16;
    int a_row = lane % 8 + lane / 16 * 8, a_half = lane / 8 % 2;
    float sum[WM / 16][ROWS / 8][4] = {}; // [i][j]: rows 8 j to 8 j + 7 of A, columns 16 i to 16 i + 15
    int stage = 0;
    unsigned phase = 0;
    for (int step = 0; step < steps; ++step) {
        __syncthreads(); // the barriers are made, the stage before has been read
        if (threadIdx.x == 0 && step + STAGES - 1 < steps) {
            copy_tiles(step + STAGES - 1, stage == 0 ? STAGES - 1 : stage - 1);
        }
        mbarrier_wait(full + stage * 8, phase);
        unsigned tile_b = stages + stage * kStage, tile_a = tile_b + kTileB;
#pragma unroll
        for (int k = 0; k < BK / 16; ++k) {
            unsigned b[WM / 16][4];
#pragma unroll
            for (int i = 0; i < WM / 16; ++i) {
                ldmatrix_4(b[i], tile_b + place_of(b_row + i * 16, k * 2 + b_half));
            }
#pragma unroll
            for (int j = 0; j < ROWS / 8; j += 2) {
                unsigned a[4];
                ldmatrix_4(a, tile_a + place_of(a_row + j * 8, k * 2 + a_half));
#pragma unroll
                for (int i = 0; i < WM / 16; ++i) {
                    mma_bf16(sum[i][j], b[i], a[0], a[1]);
                    mma_bf16(sum[i][j + 1], b[i], a[2], a[3]);
                }
            }
        }
        if (++stage == STAGES) {
            stage = 0;
            phase ^= 1;
        }
    }

    // Row r of the sums goes to block r / kPart of the cluster, after those of the slices before.
    cluster_arrive();
    cluster_wait(); // no block needs its tiles any more
#pragma unroll
    for (int i = 0; i < WM / 16; ++i) {
#pragma unroll
        for (int n = 0; n < ROWS / 8 * 4; ++n) {
            int in_row = n / 4 * 8 + lane % 4 * 2 + n % 2;
            int in_column = warp * WM + i * 16 + lane / 4 + n / 2 % 2 * 8;
            unsigned place = stages + ((slice * kPart + in_row % kPart) * BN + in_column) * 4;
            store_cluster(address_in_block(place, in_row / kPart), sum[i][n / 4][n % 4]);
        }
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
