// C = A B^T for row-major bf16 matrices, A (M x K) with few rows, B (N x K), C (M x N); sums in fp32.
// Any M and N; K a multiple of 8, and A and B begin at multiples of 16 bytes. B is read once for each
// ROWS rows of A. `partial` has room for a float for each slice and element of C, `arrived` one 0 for
// each tile of BN columns and group of rows.
// Adds to sgemm_few_rows: tensor cores, which want their factors by way of ldmatrix. B is the
// 16 rows of an mma, A the 8 columns, so that few rows of A waste little.
// Limit: memory, though its bandwidth is not reached, and less so the more rows there are.
// grid (ceil(N / BN), slices, ceil(M / ROWS)), block (BN * 2), dynamic shared STAGES * (BN + ROWS) * 128

#include <cuda_bf16.h>
#include "ptx.cuh"
#include "split_k.cuh"

#ifndef ROWS
#define ROWS 16 // of A that a block has: a multiple of 16
#endif
#ifndef BN
#define BN 128 // rows of B, and columns of C, that a block has: 16 for each warp
#endif
#ifndef STAGES
#define STAGES 5
#endif
#ifndef BLOCKS
#define BLOCKS 2 // that share a multiprocessor: caps the registers
#endif

constexpr int BK = 64; // elements of a row in shared memory: 128 bytes
constexpr int kThreads = BN * 2;
constexpr int kChunk = 8;                 // elements of 16 bytes
constexpr int kChunks = BK / kChunk;      // of a row
constexpr int kRows = kThreads / kChunks; // that the block copies at once
constexpr int kTileB = BN * BK * 2;       // bytes
constexpr int kStage = kTileB + ROWS * BK * 2;
static_assert(ROWS % 16 == 0 && kRows % 8 == 0 && BN % kRows == 0, "copies come out even");

// Where chunk `chunk` of row `row` of a tile begins, in bytes.
__device__ inline int place_of(int row, int chunk)
{
    return (row * kChunks + (chunk ^ (row & 7))) * 16;
}

extern "C" __global__ void __launch_bounds__(kThreads, BLOCKS)
    gemm_bf16_few_rows(const __nv_bfloat16 *A, const __nv_bfloat16 *B, __nv_bfloat16 *C,
                       float *partial, int *arrived, int M, int N, int K)
{
    extern __shared__ float4 tiles[];
    unsigned stages = shared_address(tiles); // of each stage a tile of B, then one of A
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int column = blockIdx.x * BN, row = blockIdx.z * ROWS; // the first of the block's
    int slices = gridDim.y, all_steps = (K + BK - 1) / BK;
    int begin = (int)((long long)all_steps * blockIdx.y / slices);
    int steps = (int)((long long)all_steps * (blockIdx.y + 1) / slices) - begin;

    int copy_row = threadIdx.x / kChunks; // the first chunk of each tile that the thread copies
    int copy_chunk = threadIdx.x % kChunks;
    auto copy_rows = [&](unsigned to, const __nv_bfloat16 *from, int first, int rows, int most,
                         int k) {
#pragma unroll
        for (int y = copy_row; y < most; y += kRows) { // zeros for rows that do not exist
            bool exists = first + y < rows && k < K;
            cp_async_16(to + place_of(y, copy_chunk),
                        exists ? from + (size_t)(first + y) * K + k : from, exists);
        }
    };
    auto copy_tiles = [&](int step, int stage) { // one group
        if (step < steps) {
            int k = (begin + step) * BK + copy_chunk * kChunk;
            copy_rows(stages + stage * kStage, B, column, N, BN, k);
            copy_rows(stages + stage * kStage + kTileB, A, row, M, ROWS, k);
        }
        cp_async_commit();
    };

    // ldmatrix: of B lanes 0-15 give the warp's 16 rows, left half, lanes 16-31 the right half; of A
    // lanes 0-7 and 16-23 give 16 rows, left half, the others the right half.
    int b_row = warp * 16 + lane % 16, b_half = lane / 16;
    int a_row = lane % 8 + lane / 16 * 8, a_half = lane / 8 % 2;
    float sum[ROWS / 8][4] = {}; // [j]: rows 8 j to 8 j + 7 of A
    for (int step = 0; step < STAGES - 1; ++step) {
        copy_tiles(step, step);
    }
    int stage = 0;
    for (int step = 0; step < steps; ++step) {
        cp_async_wait<STAGES - 2>();
        __syncthreads(); // this stage is complete, the one before has been read
        copy_tiles(step + STAGES - 1, stage == 0 ? STAGES - 1 : stage - 1);
        unsigned tile_b = stages + stage * kStage, tile_a = tile_b + kTileB;
#pragma unroll
        for (int k = 0; k < BK / 16; ++k) {
            unsigned b[4];
            ldmatrix_4(b, tile_b + place_of(b_row, k * 2 + b_half));
#pragma unroll
            for (int j = 0; j < ROWS / 8; j += 2) {
                unsigned a[4];
                ldmatrix_4(a, tile_a + place_of(a_row + j * 8, k * 2 + a_half));
                mma_bf16(sum[j], b, a[0], a[1]);
                mma_bf16(sum[j + 1], b, a[2], a[3]);
            }
        }
        stage = stage + 1 == STAGES ? 0 : stage + 1;
    }
    cp_async_wait<0>(); // the groups left are empty

    int x = column + warp * 16 + lane / 4; // of the lane's results, and 8 columns on
    auto each_result = [&](auto store) {
#pragma unroll
        for (int i = 0; i < ROWS / 8 * 4; ++i) {
            int in_row = row + i / 4 * 8 + lane % 4 * 2 + i % 2, in_column = x + i / 2 % 2 * 8;
            if (in_row < M && in_column < N) {
                store((size_t)in_row * N + in_column, sum[i / 4][i % 4]);
            }
        }
    };
    if (slices == 1) {
        each_result([&](size_t element, float value) { C[element] = __float2bfloat16_rn(value); });
        return;
    }
    float *slice = partial + (size_t)blockIdx.y * M * N;
    each_result([&](size_t element, float value) { slice[element] = value; });
    if (!last_to_arrive(arrived + blockIdx.z * gridDim.x + blockIdx.x, slices)) {
        return;
    }
    for (int i = threadIdx.x; i < ROWS * BN; i += kThreads) {
        int in_row = row + i / BN, in_column = column + i % BN;
        if (in_row < M && in_column < N) {
            size_t element = (size_t)in_row * N + in_column;
            float total = 0.0f;
#pragma unroll 4
            for (int other = 0; other < slices; ++other) {
                total += __ldcg(partial + (size_t)other * M * N + element);
            }
            C[element] = __float2bfloat16_rn(total);
        }
    }
}
