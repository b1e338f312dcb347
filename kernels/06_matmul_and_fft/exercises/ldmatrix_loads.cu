// C = A B^T for row-major matrices: A is M x K and B is N x K in fp16, C is M x N in fp32. One
// warp computes a tile of 16 x 16; 16 operands of each row pass through shared memory. M, N and K
// are multiples of 16.
// grid (N / 16, M / 16), block 32, dynamic shared 0

#include <cuda_fp16.h>
#include "ptx.cuh"

constexpr int kSide = 16;
constexpr int kPitch = 24; // elements from row to row: eight rows meet in no bank

// Two neighbours along K in one register.
__device__ inline unsigned pair_at(const __half *first)
{
    return *reinterpret_cast<const unsigned *>(first);
}

extern "C" __global__ void ldmatrix_loads(const __half *A, const __half *B, float *C, int M, int N,
                                          int K)
{
    __shared__ __align__(16) __half tile_a[kSide * kPitch], tile_b[kSide * kPitch];
    const int lane = threadIdx.x;
    A += blockIdx.y * kSide * K; // now they begin at the warp's rows
    B += blockIdx.x * kSide * K;
    C += blockIdx.y * kSide * N + blockIdx.x * kSide;

    float sum[2][4] = {};
    for (int k = 0; k < K; k += kSide) {
        const int row = lane / 2, chunk = lane % 2 * 8; // a lane copies 16 bytes of each matrix
        *reinterpret_cast<uint4 *>(tile_a + row * kPitch + chunk) =
            *reinterpret_cast<const uint4 *>(A + row * K + k + chunk);
        *reinterpret_cast<uint4 *>(tile_b + row * kPitch + chunk) =
            *reinterpret_cast<const uint4 *>(B + row * K + k + chunk);
        __syncwarp(); // both tiles are complete

        unsigned a[4], b[4]; // b[0] and b[1] are for columns 0 to 7, b[2] and b[3] for 8 to 15
        // TODO: the fragments are right, and take eight loads. Two are enough
        // STARTER
        //| const int group = lane / 4, pair = lane % 4 * 2;
        //| for (int i = 0; i < 4; ++i) {
        //|     a[i] = pair_at(tile_a + (group + i % 2 * 8) * kPitch + pair + i / 2 * 8);
        //|     b[i] = pair_at(tile_b + (group + i / 2 * 8) * kPitch + pair + i % 2 * 8);
        //| }
        // SOLUTION
        const int a_row = lane % 16, a_column = lane / 16 * 8;
        const int b_row = lane % 8 + lane / 16 * 8, b_column = lane / 8 % 2 * 8;
        ldmatrix_4(a, shared_address(tile_a + a_row * kPitch + a_column));
        ldmatrix_4(b, shared_address(tile_b + b_row * kPitch + b_column));
        // END
        mma_f16(sum[0], a, b[0], b[1]);
        mma_f16(sum[1], a, b[2], b[3]);
        __syncwarp(); // no thread needs these tiles any more
    }
    for (int i = 0; i < 8; ++i) {
        const int row = lane / 4 + i / 2 % 2 * 8;
        const int column = i / 4 * 8 + lane % 4 * 2 + i % 2;
        C[row * N + column] = sum[i / 4][i % 4];
    }
}
