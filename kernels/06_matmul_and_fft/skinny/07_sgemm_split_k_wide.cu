// Partial products of row-major fp32 matrices, A (M x K) and B (K x N), as sgemm_split_k makes them
// and with the same arguments. Any M and K, N a multiple of 4, of which a matrix and all slices
// together have fewer than 2^31 elements.
// Adds to sgemm_split_k the loop of sgemm_stream_k: 8 x 16 results a thread, copies in flight, and
// operands read one step ahead. Beyond a matrix the copies bring zeros. The kernel that adds up the
// slices may begin as soon as it fits beside these blocks.
// Limit: the multiply-adds, and the time until the first and after the last of them.
// grid (ceil(N / BN), ceil(M / BM), slices), block ((BM / WM) * (BN / WN) * 32), dynamic shared STAGES * BK * (BM + 4 + BN) * 4

#include "ptx.cuh"

#ifndef BM
#define BM 128 // of C: the block's tile
#endif
#ifndef BN
#define BN 128
#endif
#ifndef BK
#define BK 8
#endif
#ifndef WM
#define WM 64 // of C: the warp's tile
#endif
#ifndef WN
#define WN 64
#endif
#ifndef TM
#define TM 8 // of C: the thread's tile
#endif
#ifndef TN
#define TN 16
#endif
#ifndef STAGES
#define STAGES 4
#endif
#ifndef BLOCKS
#define BLOCKS 2 // that share a multiprocessor: caps the registers
#endif
#ifndef UNROLL
#define UNROLL 2 // steps along K whose instructions are in a row: even, a divisor of BK
#endif
#ifndef ROWS
#define ROWS 4, 1, 0, 2, 5, 7, 6, 3 // of the thread's tile, in the order of their products
#endif
#ifndef COLUMNS
#define COLUMNS 0, 4, 2, 1, 3, 13, 6, 7, 5, 9, 10, 11, 14, 15, 12, 8
#endif

constexpr int kThreads = (BM / WM) * (BN / WN) * 32;
constexpr int kLanesM = WM / TM; // lanes of a warp below each other, and side by side
constexpr int kLanesN = WN / TN;
constexpr int kRowA = BM + 4; // of A's transposed tile, padded
constexpr int kTileA = BK * kRowA;
constexpr int kTileB = BK * BN;
constexpr int kRowsA = kThreads / BK; // rows of A that the block copies at once, and of B
constexpr int kRowsB = kThreads / (BN / 4);
static_assert(kLanesM * kLanesN == 32, "the lanes cover the warp's tile");
static_assert(BK % 2 == 0, "the two sets of factors alternate");
static_assert(UNROLL % 2 == 0 && BK % UNROLL == 0, "the steps come out even, for both sets");
static_assert(kThreads % BK == 0 && BM % kRowsA == 0, "copies of A come out even");
static_assert(kThreads % (BN / 4) == 0 && BK % kRowsB == 0, "copies of B come out even");

extern "C" __global__ void __launch_bounds__(kThreads, BLOCKS)
    sgemm_split_k_wide(const float *A, const float *B, float *sums, int M, int N, int K)
{
    extern __shared__ float4 tiles[];
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;"); // the next kernel waits by itself
#endif
    float *tiles_a = reinterpret_cast<float *>(tiles); // STAGES tiles of A, then STAGES of B
    float *tiles_b = tiles_a + STAGES * kTileA;
    int tid = threadIdx.x;
    int lane = tid & 31;
    int warp = tid >> 5;
    int warp_row = warp / (BN / WN) * WM; // of the warp's tile in the block's
    int warp_column = warp % (BN / WN) * WN;
    int lane_row = lane / kLanesN;
    int lane_column = lane % kLanesN;
    int a_row = tid / BK; // the first element of each tile that the thread copies
    int a_k = tid % BK;
    int b_k = tid / (BN / 4);
    int b_column = tid % (BN / 4) * 4;
    unsigned to_a = shared_address(tiles_a) + (a_k * kRowA + a_row) * 4;
    unsigned to_b = shared_address(tiles_b) + (b_k * BN + b_column) * 4;
    unsigned a_at = shared_address(tiles_a + warp_row + lane_row * 4);
    unsigned b_at = shared_address(tiles_b + warp_column + lane_column * 4);

    int first_row = blockIdx.y * BM, first_column = blockIdx.x * BN; // of the block's tile in C
    long long all_steps = (K + BK - 1) / BK; // of which this slice has its share
    int begin = (int)(all_steps * blockIdx.z / gridDim.z);
    int steps = (int)(all_steps * (blockIdx.z + 1) / gridDim.z) - begin;
    int k_left = K - begin * BK; // from the tile that is copied next
    const float *from_a = A + (size_t)(first_row + a_row) * K + begin * BK + a_k;
    const float *from_b = B + (size_t)(begin * BK + b_k) * N + first_column + b_column;
    auto copy_tiles = [&](int stage) { // one group; the next call takes the next tiles
#pragma unroll
        for (int i = 0; i < BM / kRowsA; ++i) {
            const bool there = first_row + a_row + i * kRowsA < M && a_k < k_left;
            cp_async_4(to_a + (stage * kTileA + i * kRowsA) * 4,
                       there ? from_a + (size_t)i * kRowsA * K : A, there);
        }
#pragma unroll
        for (int i = 0; i < BK / kRowsB; ++i) {
            const bool there = first_column + b_column < N && b_k + i * kRowsB < k_left;
            cp_async_16(to_b + (stage * kTileB + i * kRowsB * BN) * 4,
                        there ? from_b + (size_t)i * kRowsB * N : B, there);
        }
        from_a += BK;
        from_b += (size_t)BK * N;
        k_left -= BK;
    };
    float sum[TM][TN] = {};
    for (int s = 0; s < STAGES - 1; ++s) {
        if (s < steps) {
            copy_tiles(s);
        }
        cp_async_commit();
    }
    int stage = 0;
    int free_stage = STAGES - 1;
    float a[2][TM], b[2][TN]; // operands for this k and for the next
    auto read_factors = [&](int stage, int k, int which) {
#pragma unroll
        for (int i = 0; i < TM; i += 4) {
            *reinterpret_cast<float4 *>(&a[which][i]) =
                load_shared_4(a_at + (stage * kTileA + k * kRowA + i * kLanesM) * 4);
        }
#pragma unroll
        for (int j = 0; j < TN; j += 4) {
            *reinterpret_cast<float4 *>(&b[which][j]) =
                load_shared_4(b_at + (stage * kTileB + k * BN + j * kLanesN) * 4);
        }
    };
    cp_async_wait<STAGES - 2>();
    __syncthreads(); // the first tiles are complete
    read_factors(0, 0, 0);
    for (int step = 0; step < steps; ++step) {
        if (step + STAGES - 1 < steps) {
            copy_tiles(free_stage);
        }
        cp_async_commit();
#pragma unroll 1
        for (int k0 = 0; k0 < BK; k0 += UNROLL) {
#pragma unroll
            for (int kk = 0; kk < UNROLL; ++kk) {
                int next = k0 + kk + 1;
                if (kk == UNROLL - 1 && next == BK) { // the next operands lie in the next tiles
                    cp_async_wait<STAGES - 2>();
                    __syncthreads();
                    free_stage = stage;
                    stage = stage + 1 == STAGES ? 0 : stage + 1;
                    next = 0;
                }
                read_factors(stage, next, (kk + 1) % 2);
#pragma unroll
                for (int y = 0; y < TN; ++y) {
#pragma unroll
                    for (int x = 0; x < TM; ++x) {
                        constexpr int rows[TM] = {ROWS}, columns[TN] = {COLUMNS};
                        int i = rows[y % 2 == 0 ? x : TM - 1 - x], j = columns[y];
                        sum[i][j] += a[kk % 2][i] * b[kk % 2][j];
                    }
                }
            }
        }
    }

    float *out = sums + (size_t)blockIdx.z * M * N;
#pragma unroll
    for (int i = 0; i < TM; ++i) {
        int y = first_row + warp_row + i / 4 * 4 * kLanesM + lane_row * 4 + i % 4;
#pragma unroll
        for (int j = 0; j < TN; j += 4) {
            int x = first_column + warp_column + j * kLanesN + lane_column * 4;
            if (y < M && x < N) {
                *reinterpret_cast<float4 *>(&out[(size_t)y * N + x]) =
                    make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
            }
        }
    }
}
