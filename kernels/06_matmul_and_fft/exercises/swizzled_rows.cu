// C = A B^T for row-major matrices: A is M x K and B is N x K in fp16, C is M x N in fp32. One
// warp computes a tile of 16 x 16; rows of 64 operands pass through shared memory. M and N are
// multiples of 16, K is one of 64.
// grid (N / 16, M / 16), block 32, dynamic shared 0

#include <cuda_fp16.h>
#include "ptx.cuh"

constexpr int kRows = 16;
constexpr int kChunk = 8;  // elements of 16 bytes
constexpr int kChunks = 8; // of a row

// Which of the tile's positions, of 16 bytes each, holds chunk `chunk` of row `row`.
__device__ inline int place_of(int row, int chunk)
{
    // TODO: give each chunk its own position, so that ldmatrix meets no bank conflict
    // STARTER
    //| return row * kChunks + chunk;
    // SOLUTION
    return row * kChunks + (chunk ^ (row % kChunks));
    // END
}

extern "C" __global__ void swizzled_rows(const __half *A, const __half *B, float *C, int M, int N,
                                         int K)
{
    __shared__ uint4 tile_a[kRows * kChunks], tile_b[kRows * kChunks];
    int lane = threadIdx.x;
    int first_row = blockIdx.y * kRows;
    int first_column = blockIdx.x * kRows;
    float sum[2][4] = {};
    for (int start = 0; start < K; start += kChunk * kChunks) {
        for (int i = lane; i < kRows * kChunks; i += 32) {
            int row = i / kChunks, chunk = i % kChunks, k = start + chunk * kChunk;
            tile_a[place_of(row, chunk)] =
                *reinterpret_cast<const uint4 *>(A + (first_row + row) * K + k);
            tile_b[place_of(row, chunk)] =
                *reinterpret_cast<const uint4 *>(B + (first_column + row) * K + k);
        }
        __syncwarp(); // both tiles are complete
        for (int chunk = 0; chunk < kChunks; chunk += 2) {
            unsigned a[4], b[4];
            int b_row = lane % 8 + lane / 16 * 8;
            ldmatrix_4(a, shared_address(&tile_a[place_of(lane % 16, chunk + lane / 16)]));
            ldmatrix_4(b, shared_address(&tile_b[place_of(b_row, chunk + lane / 8 % 2)]));
            mma_f16(sum[0], a, b[0], b[1]);
            mma_f16(sum[1], a, b[2], b[3]);
        }
        __syncwarp(); // no thread needs these tiles any more
    }
    for (int i = 0; i < 8; ++i) {
        int row = first_row + lane / 4 + i / 2 % 2 * 8;
        int column = first_column + i / 4 * 8 + lane % 4 * 2 + i % 2;
        C[row * N + column] = sum[i / 4][i % 4];
    }
}
