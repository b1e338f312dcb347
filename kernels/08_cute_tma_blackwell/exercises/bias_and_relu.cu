// C = max(A B^T + bias, 0) for row-major matrices in fp16: A is M x K, B is N x K, bias has a number for
// each of the N columns, C is M x N; bias and C in fp32. A block of 2 x 2 warps computes 32 x 32 results,
// shared as a TiledMMA shares them: each warp has 16 x 8 of the left half and 16 x 8 of the right half.
// M and N are multiples of 32, K is one of 16.
// grid (N / 32, M / 32), block 128, dynamic shared 0

#include <cuda_fp16.h>
#include "ptx.cuh"

__device__ inline unsigned pair_at(const __half *p)
{
    return *reinterpret_cast<const unsigned *>(p);
}

extern "C" __global__ void bias_and_relu(const __half *A, const __half *B, const float *bias,
                                         float *C, int M, int N, int K)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int group = lane / 4, pair = lane % 4 * 2;
    const int row = blockIdx.y * 32 + warp % 2 * 16;
    const int column = blockIdx.x * 32 + warp / 2 * 8;
    float sum[2][4] = {}; // of the left half and of the right half
    for (int k = 0; k < K; k += 16) {
        unsigned a[4];
        for (int i = 0; i < 4; ++i) {
            a[i] = pair_at(A + (size_t)(row + group + i % 2 * 8) * K + k + pair + i / 2 * 8);
        }
        for (int half = 0; half < 2; ++half) {
            const __half *b = B + (size_t)(column + half * 16 + group) * K + k + pair;
            mma_f16(sum[half], a, pair_at(b), pair_at(b + 8));
        }
    }
    // TODO: add the bias, take the larger of that and 0, and store the thread's eight results
    // SOLUTION
    for (int half = 0; half < 2; ++half) {
        for (int i = 0; i < 4; ++i) {
            const int x = column + half * 16 + pair + i % 2;
            const int y = row + group + i / 2 * 8;
            C[(size_t)y * N + x] = fmaxf(sum[half][i] + bias[x], 0.0f);
        }
    }
    // END
}
