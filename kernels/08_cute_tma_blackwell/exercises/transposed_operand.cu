// C = A B for row-major matrices in fp16: A is M x K, B is K x N, C is M x N in fp32. A warp computes
// 16 x 8 results. M and K are multiples of 16, N is one of 8.
// grid (N / 8, M / 16), block 32, dynamic shared 0

#include <cuda_fp16.h>
#include "ptx.cuh"

// ldmatrix.x2.trans: two 8 x 8 matrices, whose 16 rows lanes 0 to 15 give, 16 bytes each. Of each the
// lane receives the elements (2 (lane % 4), lane / 4) and the one below.
__device__ inline void ldmatrix_2_transposed(unsigned (&tiles)[2], unsigned row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(tiles[0]), "=r"(tiles[1])
                 : "r"(row)
                 : "memory");
}

extern "C" __global__ void transposed_operand(const __half *A, const __half *B, float *C, int M,
                                              int N, int K)
{
    __shared__ __align__(16) __half tile_a[16][16], tile_b[16][8]; // as in memory: B's rows are along N
    const int lane = threadIdx.x;
    const int row = blockIdx.y * 16, column = blockIdx.x * 8; // of C
    float sum[4] = {};
    for (int k = 0; k < K; k += 16) {
        *reinterpret_cast<uint4 *>(&tile_a[lane / 2][lane % 2 * 8]) =
            *reinterpret_cast<const uint4 *>(A + (size_t)(row + lane / 2) * K + k + lane % 2 * 8);
        if (lane < 16) {
            *reinterpret_cast<uint4 *>(&tile_b[lane][0]) =
                *reinterpret_cast<const uint4 *>(B + (size_t)(k + lane) * N + column);
        }
        __syncwarp();
        unsigned a[4], b[2];
        // TODO: fill a by ldmatrix_4 and b by ldmatrix_2_transposed, and multiply by mma_f16
        // SOLUTION
        ldmatrix_4(a, shared_address(&tile_a[lane % 16][lane / 16 * 8]));
        ldmatrix_2_transposed(b, shared_address(&tile_b[lane % 16][0]));
        mma_f16(sum, a, b[0], b[1]);
        // END
        __syncwarp();
    }
    for (int i = 0; i < 4; ++i) {
        C[(size_t)(row + lane / 4 + i / 2 * 8) * N + column + lane % 4 * 2 + i % 2] = sum[i];
    }
}
