// C = A B^T for row-major bf16 matrices: A is M x K, B is N x K, C is M x N; sums in fp32. Whole
// tiles only: M a multiple of BM, N of BN and K of BK; the caller sees to it.
// Adds to hgemm_swizzle: STAGES pairs of tiles in flight with cp.async, 16 bytes at a time, a
// larger tile, and fragments that are read one step ahead.
// Limit: the warps that multiply also issue the copies; without that mma.sync itself, which reaches
// about two thirds of what a Hopper's tensor cores can do.
// grid (M / BM * (N / BN)), block ((BM / WM) * (BN / WN) * 32), dynamic shared STAGES * (BM + BN) * BK * 2

#include <cuda_bf16.h>
#include "ptx.cuh"

#ifndef BM
#define BM 128 // of C: the block's tile
#endif
#ifndef BN
#define BN 256
#endif
#ifndef BK
#define BK 64 // elements of a row in shared memory: 128 bytes
#endif
#ifndef WM
#define WM 64 // of C: the warp's tile
#endif
#ifndef WN
#define WN 64
#endif
#ifndef STAGES
#define STAGES 4
#endif
#ifndef BAND
#define BAND 16 // rows of tiles that are visited together, column by column, for the L2 cache
#endif

constexpr int kThreads = (BM / WM) * (BN / WN) * 32;
constexpr int kChunk = 8;                 // elements of 16 bytes
constexpr int kChunks = BK / kChunk;      // of a row
constexpr int kRows = kThreads / kChunks; // that the block copies at once
constexpr int kTileA = BM * BK * 2;       // bytes
constexpr int kTileB = BN * BK * 2;
constexpr int kTilesM = WM / 16; // of one mma, in the warp's tile
constexpr int kTilesN = WN / 8;
static_assert(kChunks == 8, "a row of a tile is 128 bytes");
static_assert(BM % kRows == 0 && BN % kRows == 0, "copies come out even");

// Where chunk `chunk` of row `row` of a tile begins, in bytes.
__device__ inline int place_of(int row, int chunk)
{
    return (row * kChunks + (chunk ^ (row & 7))) * 16;
}

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    gemm_bf16_pipeline(const __nv_bfloat16 *A, const __nv_bfloat16 *B, __nv_bfloat16 *C, int M,
                       int N, int K)
{
    extern __shared__ float4 tiles[];
    unsigned tiles_a = shared_address(tiles); // STAGES tiles of A, then STAGES of B
    unsigned tiles_b = tiles_a + STAGES * kTileA;
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    int warp_row = warp / (BN / WN) * WM; // of the warp's tile in the block's
    int warp_column = warp % (BN / WN) * WN;

    int tiles_n = N / BN, tiles_m = M / BM;
    int band = BAND * tiles_n, head = blockIdx.x / band * BAND;
    int height = min(tiles_m - head, BAND);
    int first_row = (head + blockIdx.x % band % height) * BM; // of the block's tile in C
    int first_column = blockIdx.x % band / height * BN;

    int copy_row = threadIdx.x / kChunks; // the first chunk of each tile that the thread copies
    int copy_chunk = threadIdx.x % kChunks;
    const __nv_bfloat16 *from_a = A + (size_t)(first_row + copy_row) * K + copy_chunk * kChunk;
    const __nv_bfloat16 *from_b = B + (size_t)(first_column + copy_row) * K + copy_chunk * kChunk;
    unsigned to = place_of(copy_row, copy_chunk); // kRows is a multiple of 8: the same pattern
    auto copy_tiles = [&](int stage) {            // one group; the next call takes the next tiles
#pragma unroll
        for (int i = 0; i < BM / kRows; ++i) {
            cp_async_16(tiles_a + stage * kTileA + to + i * kRows * BK * 2,
                        from_a + (size_t)i * kRows * K);
        }
#pragma unroll
        for (int i = 0; i < BN / kRows; ++i) {
            cp_async_16(tiles_b + stage * kTileB + to + i * kRows * BK * 2,
                        from_b + (size_t)i * kRows * K);
        }
        from_a += BK;
        from_b += BK;
    };

    // ldmatrix: lanes 0-15 give the 16 rows of an A tile, left half, lanes 16-31 the right half;
    // of B lanes 0-7 and 16-23 give 16 rows (columns of C), left half, the others the right half.
    int a_row = warp_row + lane % 16;
    int a_half = lane / 16;
    int b_row = warp_column + lane % 8 + lane / 16 * 8;
    int b_half = lane / 8 % 2;
    unsigned a[2][kTilesM][4], b[2][kTilesN / 2][4]; // operands of this step and the next
    auto read_factors = [&](int stage, int k, int which) {
#pragma unroll
        for (int i = 0; i < kTilesM; ++i) {
            ldmatrix_4(a[which][i],
                       tiles_a + stage * kTileA + place_of(a_row + i * 16, k * 2 + a_half));
        }
#pragma unroll
        for (int j = 0; j < kTilesN / 2; ++j) {
            ldmatrix_4(b[which][j],
                       tiles_b + stage * kTileB + place_of(b_row + j * 16, k * 2 + b_half));
        }
    };

    int steps = K / BK;
    for (int s = 0; s < STAGES - 1; ++s) {
        if (s < steps) {
            copy_tiles(s);
        }
        cp_async_commit();
    }
    float sum[kTilesM][kTilesN][4] = {};
    int stage = 0;
    int free_stage = STAGES - 1;
    cp_async_wait<STAGES - 2>();
    __syncthreads(); // the first tiles are complete
    read_factors(0, 0, 0);
    for (int step = 0; step < steps; ++step) {
        if (step + STAGES - 1 < steps) {
            copy_tiles(free_stage);
        }
        cp_async_commit();
#pragma unroll
        for (int k = 0; k < BK / 16; ++k) {
            if (k == BK / 16 - 1) { // the next operands lie in the next tiles
                cp_async_wait<STAGES - 2>();
                __syncthreads();
                free_stage = stage;
                stage = stage + 1 == STAGES ? 0 : stage + 1;
                read_factors(stage, 0, 0); // of no use after the last step
            } else {
                read_factors(stage, k + 1, (k + 1) % 2);
            }
#pragma unroll
            for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
                for (int jj = 0; jj < kTilesN; ++jj) {
                    int j = i % 2 == 0 ? jj : kTilesN - 1 - jj; // a neighbour shares an operand
                    mma_bf16(sum[i][j], a[k % 2][i], b[k % 2][j / 2][j % 2 * 2],
                             b[k % 2][j / 2][j % 2 * 2 + 1]);
                }
            }
        }
    }
#pragma unroll
    for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
        for (int j = 0; j < kTilesN; ++j) {
            size_t y = first_row + warp_row + i * 16 + lane / 4;
            size_t x = first_column + warp_column + j * 8 + lane % 4 * 2;
            *reinterpret_cast<__nv_bfloat162 *>(&C[y * N + x]) =
                __floats2bfloat162_rn(sum[i][j][0], sum[i][j][1]);
            *reinterpret_cast<__nv_bfloat162 *>(&C[(y + 8) * N + x]) =
                __floats2bfloat162_rn(sum[i][j][2], sum[i][j][3]);
        }
    }
}
