// C = A B for row-major fp32 matrices: A is M x K, B is K x N, C is M x N.
// Any shape with fewer than 2^31 elements a matrix.
// Adds to matmul_registers: blocks of A and B are first copied ("packed") in the order in which the
// tiles read them, with zeros beyond the edges. BM x BK of A stay in L2, BK x NR of B in L1.
// Limit: the vector units, nearly; libraries tune sizes and write this tile in assembly.
// Build: cc -O3 -march=native -shared -fPIC matmul_packed.c -o matmul_packed.so

#include <stdlib.h>

#include "simd.h"

enum { MR = 6, NR = 2 * LANES, BM = 16 * MR, BK = 256 };

static int smaller(int x, int y)
{
    return x < y ? x : y;
}

// Strips of MR rows of A: for each k the MR numbers of a strip lie side by side.
static void pack_a(const float *A, float *to, int K, int rows, int depth)
{
    for (int strip = 0; strip < rows; strip += MR) {
        for (int k = 0; k < depth; ++k) {
            for (int i = strip; i < strip + MR; ++i) {
                *to++ = i < rows ? A[i * K + k] : 0.0f;
            }
        }
    }
}

// Strips of NR columns of B: for each k the NR numbers of a strip lie side by side.
static void pack_b(const float *B, float *to, int N, int depth)
{
    for (int strip = 0; strip < N; strip += NR) {
        for (int k = 0; k < depth; ++k) {
            for (int j = strip; j < strip + NR; ++j) {
                *to++ = j < N ? B[k * N + j] : 0.0f;
            }
        }
    }
}

// C += the product of one strip of A and one of B, of which rows x columns elements exist in C.
static void tile(const float *a, const float *b, float *C, int N, int rows, int columns, int depth)
{
    vec sum[MR][2] = {0};
    for (int k = 0; k < depth; ++k) {
        const vec left = load(&b[k * NR]);
        const vec right = load(&b[k * NR + LANES]);
        for (int i = 0; i < MR; ++i) {
            sum[i][0] += a[k * MR + i] * left;
            sum[i][1] += a[k * MR + i] * right;
        }
    }
    float result[MR][NR];
    memcpy(result, sum, sizeof result);
    for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < columns; ++j) {
            C[i * N + j] += result[i][j];
        }
    }
}

void matmul_packed(const float *restrict A, const float *restrict B, float *restrict C, int M,
                   int N, int K)
{
    const int strips = (N + NR - 1) / NR;
    float *packed_b = malloc((size_t)strips * NR * BK * sizeof(float));
    float packed_a[BM * BK];
    for (int element = 0; element < M * N; ++element) {
        C[element] = 0.0f;
    }
    for (int first_k = 0; first_k < K; first_k += BK) {
        const int depth = smaller(BK, K - first_k);
        pack_b(&B[first_k * N], packed_b, N, depth);
        for (int first_i = 0; first_i < M; first_i += BM) {
            const int rows = smaller(BM, M - first_i);
            pack_a(&A[first_i * K + first_k], packed_a, K, rows, depth);
            for (int j = 0; j < N; j += NR) {
                for (int i = 0; i < rows; i += MR) {
                    tile(&packed_a[i * depth], &packed_b[j * depth], &C[(first_i + i) * N + j], N,
                         smaller(MR, rows - i), smaller(NR, N - j), depth);
                }
            }
        }
    }
    free(packed_b);
}
