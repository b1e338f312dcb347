// A tile of C = A B^T with mma.sync, whose rows may end before the tile does: what the grouped
// products of chapter 07 share before they move to wgmma. bf16, row-major, sums in fp32.

#pragma once

#include <cuda_bf16.h>
#include "ptx.cuh"

constexpr int BM = 128, BN = 128, BK = 64; // BK elements are 128 bytes, one row of a tile
constexpr int STAGES = 3;
constexpr int kThreads = 256;             // eight warps of 64 x 32 results
constexpr int kTile = BM * BK * 2;        // bytes of A's tile, and of B's
constexpr int kRowsAtOnce = kThreads / 8; // eight chunks of 16 bytes are a row

// Where chunk `chunk` of row `row` of a tile begins, in bytes.
__device__ inline int place_of(int row, int chunk)
{
    return row * 128 + (chunk ^ row % 8) * 16;
}

// Stores rows `first_row` to `end` - 1 of C, at most BM, and columns `first_column` to N - 1, at
// most BN. K and N are multiples of 8.
__device__ inline void expert_tile(const __nv_bfloat16 *A, const __nv_bfloat16 *B, __nv_bfloat16 *C,
                                   int first_row, int end, int first_column, int N, int K)
{
    extern __shared__ __align__(128) unsigned char tiles[];
    const unsigned stages = shared_address(tiles); // A's tile, then B's
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int warp_row = warp / 4 * 64, warp_column = warp % 4 * 32;
    const int copy_row = threadIdx.x / 8, copy_chunk = threadIdx.x % 8;

    auto copy_tiles = [&](int step) {
        const unsigned to = stages + step % STAGES * 2 * kTile + place_of(copy_row, copy_chunk);
        const int k = step * BK + copy_chunk * 8;
#pragma unroll
        for (int i = 0; i < BM; i += kRowsAtOnce) { // zeros past the group, the columns and K
            const int row = first_row + copy_row + i, column = first_column + copy_row + i;
            const bool a = row < end && k < K, b = column < N && k < K;
            cp_async_16(to + i * 128, a ? A + (size_t)row * K + k : A, a);
            cp_async_16(to + kTile + i * 128, b ? B + (size_t)column * K + k : B, b);
        }
    };

    const int steps = (K + BK - 1) / BK;
    for (int s = 0; s < STAGES - 1; ++s) {
        if (s < steps) {
            copy_tiles(s);
        }
        cp_async_commit();
    }
    float sum[4][4][4] = {}; // tiles of 16 x 8, four down and four across
    for (int step = 0; step < steps; ++step) {
        cp_async_wait<STAGES - 2>();
        __syncthreads(); // this step's tiles are there, and the step before is done
        if (step + STAGES - 1 < steps) {
            copy_tiles(step + STAGES - 1);
        }
        cp_async_commit();
        const unsigned at = stages + step % STAGES * 2 * kTile;
#pragma unroll
        for (int k = 0; k < BK / 16; ++k) {
            unsigned a[4][4], b[2][4];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const int row = warp_row + i * 16 + lane % 16;
                ldmatrix_4(a[i], at + place_of(row, k * 2 + lane / 16));
            }
#pragma unroll
            for (int j = 0; j < 2; ++j) {
                const int row = warp_column + j * 16 + lane % 8 + lane / 16 * 8;
                ldmatrix_4(b[j], at + kTile + place_of(row, k * 2 + lane / 8 % 2));
            }
#pragma unroll
            for (int i = 0; i < 4; ++i) {
#pragma unroll
                for (int j = 0; j < 4; ++j) {
                    mma_bf16(sum[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
                }
            }
        }
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const int row = first_row + warp_row + i * 16 + half * 8 + lane / 4;
                const int column = first_column + warp_column + j * 8 + lane % 4 * 2;
                if (row < end && column < N) {
                    *reinterpret_cast<__nv_bfloat162 *>(C + (size_t)row * N + column) =
                        __floats2bfloat162_rn(sum[i][j][half * 2], sum[i][j][half * 2 + 1]);
                }
            }
        }
    }
}
