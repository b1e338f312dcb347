// C = A B^T for one block's tile: A and B are 64 x 32 in fp16, C is 64 x 64 in fp32, all row-major.
// The rung to compare with: four warps with 32 x 32 of C each, ldmatrix and mma.sync with formulas.
// grid 1, block 128, dynamic shared 0
#include <cuda_fp16.h>
#include "ptx.cuh"

constexpr int kRow = 40; // elements of a row in shared memory: 5 chunks of 16 bytes, one of them a gap

extern "C" __global__ void block_by_hand(const __half *A, const __half *B, float *C)
{
    __shared__ __align__(16) __half tile_a[64 * kRow], tile_b[64 * kRow];
    for (int i = threadIdx.x; i < 64 * 4; i += 128) {
        const int to = i / 4 * kRow + i % 4 * 8;
        *reinterpret_cast<uint4 *>(tile_a + to) = reinterpret_cast<const uint4 *>(A)[i];
        *reinterpret_cast<uint4 *>(tile_b + to) = reinterpret_cast<const uint4 *>(B)[i];
    }
    __syncthreads();
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int warp_row = warp % 2 * 32, warp_column = warp / 2 * 32; // of the warp's tile
    const int a_row = warp_row + lane % 16, a_half = lane / 16;
    const int b_row = warp_column + lane % 8 + lane / 16 * 8, b_half = lane / 8 % 2;
    float sum[2][4][4] = {};
#pragma unroll
    for (int k = 0; k < 32; k += 16) {
        unsigned a[2][4], b[2][4]; // b: two fragments at a time
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            ldmatrix_4(a[i], shared_address(tile_a + (a_row + i * 16) * kRow + k + a_half * 8));
            ldmatrix_4(b[i], shared_address(tile_b + (b_row + i * 16) * kRow + k + b_half * 8));
        }
#pragma unroll
        for (int i = 0; i < 2; ++i) {
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                mma_f16(sum[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
            }
        }
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const int row = warp_row + i * 16 + lane / 4;
            float *at = C + row * 64 + warp_column + j * 8 + lane % 4 * 2;
            *reinterpret_cast<float2 *>(at) = make_float2(sum[i][j][0], sum[i][j][1]);
            *reinterpret_cast<float2 *>(at + 8 * 64) = make_float2(sum[i][j][2], sum[i][j][3]);
        }
    }
}
