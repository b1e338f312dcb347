// C = A B for row-major fp32 matrices: A is M x K, B is K x N, C is M x N. Whole tiles only: M a
// multiple of BM, N of BN and K of BK; the caller sees to it.
// Adds to sgemm_autotuned: the order of the 128 products of a step. Down one column and up the
// next, a product shares an operand with the one before; the order of rows and columns won a search
// on an H200. Four stages in place of three are no gain by themselves.
// Limit: 512 tiles on 132 multiprocessors are 3.9 waves, and the last one is not full.
// grid (N / BN, M / BM), block ((BM / WM) * (BN / WN) * 32), dynamic shared STAGES * BK * (BM + 4 + BN) * 4

#include "ptx.cuh"

#ifndef BM
#define BM 128 // of C: the block's tile
#endif
#ifndef BN
#define BN 256
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
#define BLOCKS 1 // that share a multiprocessor: caps the registers
#endif
#ifndef ROWS
#define ROWS 0, 1, 2, 3, 4, 5, 6, 7 // of the thread's tile, in the order of their products
#endif
#ifndef COLUMNS
#define COLUMNS 2, 1, 0, 3, 4, 5, 6, 12, 8, 9, 10, 11, 7, 13, 14, 15
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
static_assert(kThreads % BK == 0 && BM % kRowsA == 0, "copies of A come out even");
static_assert(kThreads % (BN / 4) == 0 && BK % kRowsB == 0, "copies of B come out even");

extern "C" __global__ void __launch_bounds__(kThreads, BLOCKS)
    sgemm_ordered(const float *A, const float *B, float *C, int M, int N, int K)
{
    extern __shared__ __align__(16) float tiles[];
    float *tiles_a = tiles; // STAGES tiles of A, then STAGES tiles of B
    float *tiles_b = tiles + STAGES * kTileA;
    int warp = threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    int row = warp / (BN / WN) * WM + lane / kLanesN * 4; // of the thread's first sub-tile
    int column = warp % (BN / WN) * WN + lane % kLanesN * 4;
    int a_row = threadIdx.x / BK; // the first element of each tile that the thread copies
    int a_k = threadIdx.x % BK;
    int b_k = threadIdx.x / (BN / 4);
    int b_column = threadIdx.x % (BN / 4) * 4;
    const float *from_a = A + (blockIdx.y * BM + a_row) * static_cast<size_t>(K) + a_k;
    const float *from_b = B + b_k * static_cast<size_t>(N) + blockIdx.x * BN + b_column;
    unsigned to_a = shared_address(tiles_a + a_k * kRowA + a_row);
    unsigned to_b = shared_address(tiles_b + b_k * BN + b_column);

    auto copy_tiles = [&](int stage) { // one group of copies; the next call takes the next tiles
#pragma unroll
        for (int i = 0; i < BM; i += kRowsA) {
            cp_async_4(to_a + (stage * kTileA + i) * 4, from_a + static_cast<size_t>(i) * K);
        }
#pragma unroll
        for (int k = 0; k < BK; k += kRowsB) {
            cp_async_16(to_b + (stage * kTileB + k * BN) * 4, from_b + static_cast<size_t>(k) * N);
        }
        from_a += BK;
        from_b += static_cast<size_t>(BK) * N;
    };
    float a[2][TM], b[2][TN]; // operands for this k and for the next
    auto read_factors = [&](int stage, int k, int which) {
#pragma unroll
        for (int i = 0; i < TM; i += 4) {
            *reinterpret_cast<float4 *>(&a[which][i]) = *reinterpret_cast<float4 *>(
                tiles_a + stage * kTileA + k * kRowA + row + i * kLanesM);
        }
#pragma unroll
        for (int j = 0; j < TN; j += 4) {
            *reinterpret_cast<float4 *>(&b[which][j]) = *reinterpret_cast<float4 *>(
                tiles_b + stage * kTileB + k * BN + column + j * kLanesN);
        }
    };

    int steps = K / BK;
    for (int stage = 0; stage < STAGES - 1; ++stage) {
        if (stage < steps) {
            copy_tiles(stage);
        }
        cp_async_commit();
    }
    float sum[TM][TN] = {};
    int stage = 0;
    int free_stage = STAGES - 1;
    cp_async_wait<STAGES - 2>();
    __syncthreads(); // the first tiles are complete
    read_factors(stage, 0, 0);
    for (int step = 0; step < steps; ++step) {
        if (step + STAGES - 1 < steps) {
            copy_tiles(free_stage);
        }
        cp_async_commit();
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            if (k + 1 < BK) {
                read_factors(stage, k + 1, (k + 1) % 2);
            } else { // the last k of these tiles: the next operands lie in the next tiles
                cp_async_wait<STAGES - 2>();
                __syncthreads();
                free_stage = stage;
                stage = stage + 1 == STAGES ? 0 : stage + 1;
                read_factors(stage, 0, 0); // of no use after the last step
            }
#pragma unroll
            for (int y = 0; y < TN; ++y) {
#pragma unroll
                for (int x = 0; x < TM; ++x) {
                    constexpr int rows[TM] = {ROWS}, columns[TN] = {COLUMNS};
                    int i = rows[y % 2 == 0 ? x : TM - 1 - x], j = columns[y];
                    sum[i][j] += a[k % 2][i] * b[k % 2][j];
                }
            }
        }
    }
    C += (blockIdx.y * BM + row) * static_cast<size_t>(N) + blockIdx.x * BN + column;
#pragma unroll
    for (int i = 0; i < TM; ++i) {
#pragma unroll
        for (int j = 0; j < TN; j += 4) {
            int below = i / 4 * 4 * kLanesM + i % 4;
            *reinterpret_cast<float4 *>(C + static_cast<size_t>(below) * N + j * kLanesN) =
                make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
        }
    }
}
