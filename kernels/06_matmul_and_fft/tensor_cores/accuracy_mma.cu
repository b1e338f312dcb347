// The same sums of products in five number formats: C = A B^T over the first 16, 32, 64, ... K
// columns of row-major fp32 matrices A (M x K) and B (N x K); `sums` has log2(K / 16) + 1 matrices,
// M x N each. M a multiple of 16, N of 8, K a power of two and at least 16.
// A warp computes 16 x 8 elements with mma.sync. It rounds the operands to FORMAT on the way into
// registers, and the fragments come straight from global memory: it is there to be right, not fast.
// grid (N / 8, M / 16), block 32, dynamic shared 0

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include "ptx.cuh"

#define FP32 0 // ordinary FMAs, no tensor core
#define TF32 1 // this and the next two: operands in this format, sums in fp32
#define BF16 2
#define FP16 3
#define FP16_SUMS 4 // operands and sums in fp16
#ifndef FORMAT
#define FORMAT FP16
#endif

constexpr int kStep = 16; // columns of A and B at a time

// Two neighbours of a row in one register, the first in its lower half, each rounded to 16 bits.
__device__ inline unsigned pair(const float *from)
{
#if FORMAT == BF16
    __nv_bfloat162 two = __floats2bfloat162_rn(from[0], from[1]);
#else
    __half2 two = __floats2half2_rn(from[0], from[1]);
#endif
    return *reinterpret_cast<unsigned *>(&two);
}

// mma.m16n8k16 with sums in fp16, two in a register; `sum` holds their values.
__device__ inline void mma_f16_sums(float (&sum)[4], const unsigned (&a)[4], const unsigned (&b)[2])
{
    unsigned c[2] = {pair(sum), pair(sum + 2)};
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 "
                 "{%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
                 : "+r"(c[0]), "+r"(c[1])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    for (int i = 0; i < 4; ++i) {
        unsigned short bits = c[i / 2] >> i % 2 * 16;
        sum[i] = __half2float(__ushort_as_half(bits));
    }
}

// Add the products of kStep columns to the lane's four sums. A and B begin at the warp's tile.
__device__ inline void add_products(float (&sum)[4], const float *A, const float *B, int K)
{
    int group = threadIdx.x / 4; // the lane's row in every tile of 8 rows
    int member = threadIdx.x % 4;
#if FORMAT == FP32
    for (int i = 0; i < 4; ++i) {
        const float *a = A + (size_t)(group + i / 2 * 8) * K;
        const float *b = B + (size_t)(member * 2 + i % 2) * K;
        for (int k = 0; k < kStep; ++k) {
            sum[i] += a[k] * b[k];
        }
    }
#elif FORMAT == TF32
    for (int k = 0; k < kStep; k += 8) { // half as deep: the elements are twice as wide
        unsigned a[4], b[2];
        for (int i = 0; i < 4; ++i) {
            a[i] = to_tf32(A[(size_t)(group + i % 2 * 8) * K + k + member + i / 2 * 4]);
        }
        for (int i = 0; i < 2; ++i) {
            b[i] = to_tf32(B[(size_t)group * K + k + member + i * 4]);
        }
        mma_tf32(sum, a, b[0], b[1]);
    }
#else
    unsigned a[4], b[2];
    for (int i = 0; i < 4; ++i) {
        a[i] = pair(A + (size_t)(group + i % 2 * 8) * K + member * 2 + i / 2 * 8);
    }
    for (int i = 0; i < 2; ++i) {
        b[i] = pair(B + (size_t)group * K + member * 2 + i * 8);
    }
#if FORMAT == BF16
    mma_bf16(sum, a, b[0], b[1]);
#elif FORMAT == FP16
    mma_f16(sum, a, b[0], b[1]);
#else
    mma_f16_sums(sum, a, b);
#endif
#endif
}

extern "C" __global__ void accuracy_mma(const float *A, const float *B, float *sums, int M, int N,
                                        int K)
{
    int first_row = blockIdx.y * 16; // of the warp's tile in C
    int first_column = blockIdx.x * 8;
    A += (size_t)first_row * K;
    B += (size_t)first_column * K;
    float sum[4] = {};
    for (int k = kStep; k <= K; k += kStep) {
        add_products(sum, A, B, K);
        A += kStep;
        B += kStep;
        if ((k & (k - 1)) == 0) { // a power of two
            for (int i = 0; i < 4; ++i) {
                int y = first_row + threadIdx.x / 4 + i / 2 * 8;
                int x = first_column + threadIdx.x % 4 * 2 + i % 2;
                sums[y * N + x] = sum[i];
            }
            sums += M * N;
        }
    }
}
