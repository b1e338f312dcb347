// C = A B^T for row-major matrices in fp16: A is M x K, B is N x K, C is M x N in fp32. A block of four
// warps computes 32 x 32 results, each warp 16 x 16. M and N are multiples of 32, K is one of 16.
// grid (N / 32, M / 32), block 128, dynamic shared 0

#include <cuda_fp16.h>
#include "ptx.cuh"

__device__ inline unsigned pair_at(const __half *p)
{
    return *reinterpret_cast<const unsigned *>(p);
}

extern "C" __global__ void warps_apart(const __half *A, const __half *B, float *C, int M, int N,
                                       int K)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int group = lane / 4, pair = lane % 4 * 2;
    // BUG
    //| const int row = blockIdx.y * 32 + warp % 2 * 16;
    //| const int column = blockIdx.x * 32 + warp % 2 * 16;
    // SOLUTION
    const int row = blockIdx.y * 32 + warp % 2 * 16;
    const int column = blockIdx.x * 32 + warp / 2 * 16;
    // END
    float sum[2][4] = {};
    for (int k = 0; k < K; k += 16) {
        unsigned a[4];
        for (int i = 0; i < 4; ++i) {
            a[i] = pair_at(A + (size_t)(row + group + i % 2 * 8) * K + k + pair + i / 2 * 8);
        }
        for (int j = 0; j < 2; ++j) {
            const __half *b = B + (size_t)(column + j * 8 + group) * K + k + pair;
            mma_f16(sum[j], a, pair_at(b), pair_at(b + 8));
        }
    }
    for (int j = 0; j < 2; ++j) {
        for (int i = 0; i < 4; ++i) {
            C[(size_t)(row + group + i / 2 * 8) * N + column + j * 8 + pair + i % 2] = sum[j][i];
        }
    }
}
