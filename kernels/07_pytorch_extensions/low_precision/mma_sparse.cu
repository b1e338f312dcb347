// C = A B^T in fp32 for fp16 matrices, A (M x K) with two zeros in every four neighbours of a row:
// `kept` (M x K / 2) has the other two of each four, `places` (M x K / 16) where they were, two
// bits each, in the order of `kept`, the first in the lowest bits. B is N x K. M is a multiple of
// 16, N of 8, K of 32. Adds to an ordinary mma: A has half as many registers for the same K, and
// its four bits for each four numbers go to the lanes 4 g and 4 g + 1 (selector 0): those of row g
// below, row g + 8 above. Limit: the loads. One warp makes a tile, and shares nothing.
// grid (N / 8, M / 16), block (32), dynamic shared 0

#include <cuda_fp16.h>

constexpr int kDepth = 32; // of an mma, zeros included

extern "C" __global__ void mma_sparse(const __half *kept, const unsigned short *places,
                                      const __half *B, float *C, int M, int N, int K)
{
    int g = threadIdx.x / 4, t = threadIdx.x % 4;
    int row = blockIdx.y * 16 + g, column = blockIdx.x * 8 + g;
    const unsigned *a = reinterpret_cast<const unsigned *>(kept); // two numbers each
    const unsigned *b = reinterpret_cast<const unsigned *>(B);
    float sum[4] = {};
    for (int k = 0; k < K; k += kDepth) {
        const unsigned *upper = a + (row * K + k) / 4, *lower = upper + 8 * K / 4;
        const unsigned *of_column = b + (column * K + k) / 2;
        const unsigned short *place = places + (row * K + k) / 16 + t % 2;
        unsigned metadata = place[0] | unsigned(place[8 * K / 16]) << 16;
        asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 "
                     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, "
                     "{%0, %1, %2, %3}, %12, 0;"
                     : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                     : "r"(upper[t]), "r"(lower[t]), "r"(upper[t + 4]), "r"(lower[t + 4]),
                       "r"(of_column[t]), "r"(of_column[t + 4]), "r"(of_column[t + 8]),
                       "r"(of_column[t + 12]), "r"(metadata));
    }
    int first = blockIdx.x * 8 + 2 * t; // column of C
    for (int i = 0; i < 4; ++i) {
        C[(row + i / 2 * 8) * N + first + i % 2] = sum[i];
    }
}
