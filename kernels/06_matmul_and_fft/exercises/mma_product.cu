// C = A B^T for row-major matrices: A is M x K and B is N x K in fp16, C is M x N in fp32. One
// warp computes a tile of 16 x 8 and reads its fragments straight from global memory. M and K are
// multiples of 16, N is one of 8.
// grid (N / 8, M / 16), block 32, dynamic shared 0

#include <cuda_fp16.h>
#include "ptx.cuh"

// Two neighbours along K in one register.
__device__ inline unsigned pair_at(const __half *first)
{
    return *reinterpret_cast<const unsigned *>(first);
}

extern "C" __global__ void mma_product(const __half *A, const __half *B, float *C, int M, int N,
                                       int K)
{
    A += blockIdx.y * 16 * K; // now they begin at the warp's tile
    B += blockIdx.x * 8 * K;
    C += blockIdx.y * 16 * N + blockIdx.x * 8;
    int group = threadIdx.x / 4;
    int member = threadIdx.x % 4;

    float sum[4] = {};
    for (int k = 0; k < K; k += 16) {
        unsigned a[4] = {}, b[2] = {};
        // TODO: fill the fragments with pair_at: a[i] from A, b[i] from B. Row r of the tile of A
        //       begins at A + r * K + k, column c of the tile of B^T at B + c * K + k
        // SOLUTION
        for (int i = 0; i < 4; ++i) {
            int row = group + i % 2 * 8;
            int column = member * 2 + i / 2 * 8;
            a[i] = pair_at(A + row * K + k + column);
        }
        for (int i = 0; i < 2; ++i) {
            b[i] = pair_at(B + group * K + k + member * 2 + i * 8);
        }
        // END
        mma_f16(sum, a, b[0], b[1]);
    }
    // TODO: store the four sums; row r of the tile of C begins at C + r * N
    // SOLUTION
    for (int i = 0; i < 4; ++i) {
        C[(group + i / 2 * 8) * N + member * 2 + i % 2] = sum[i];
    }
    // END
}
