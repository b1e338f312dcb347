// C = A B for row-major fp32 matrices: A is M x K, B is K x N, C is M x N.
// Any shape with fewer than 2^31 elements a matrix.
// Adds to matmul_blocked: a tile of C, MR rows x NR columns, stays in vector registers for the whole
// loop over a block of k. For each k, 2 vectors of B and MR numbers of A feed 2 MR vector FMAs.
// Limit: the rows of B's tile lie N floats apart, so it takes many cache lines and pages.
// Build: cc -O3 -march=native -shared -fPIC matmul_registers.c -o matmul_registers.so

#include "simd.h"

#ifndef BK
#define BK 256
#endif
enum { MR = 6, NR = 2 * LANES };

static int smaller(int x, int y)
{
    return x < y ? x : y;
}

// C += A B for MR x NR elements of C and `depth` steps of k; the arguments point at the corners.
static void full_tile(const float *A, const float *B, float *C, int N, int K, int depth)
{
    vec sum[MR][2] = {0};
    for (int k = 0; k < depth; ++k) {
        const vec left = load(&B[k * N]);
        const vec right = load(&B[k * N + LANES]);
        for (int i = 0; i < MR; ++i) {
            sum[i][0] += A[i * K + k] * left;
            sum[i][1] += A[i * K + k] * right;
        }
    }
    for (int i = 0; i < MR; ++i) {
        store(&C[i * N], load(&C[i * N]) + sum[i][0]);
        store(&C[i * N + LANES], load(&C[i * N + LANES]) + sum[i][1]);
    }
}

// The same for the tiles at the edges: rows x columns elements of C.
static void part_tile(const float *A, const float *B, float *C, int N, int K, int depth, int rows,
                      int columns)
{
    for (int i = 0; i < rows; ++i) {
        for (int k = 0; k < depth; ++k) {
            for (int j = 0; j < columns; ++j) {
                C[i * N + j] += A[i * K + k] * B[k * N + j];
            }
        }
    }
}

void matmul_registers(const float *restrict A, const float *restrict B, float *restrict C, int M,
                      int N, int K)
{
    for (int element = 0; element < M * N; ++element) {
        C[element] = 0.0f;
    }
    for (int first_k = 0; first_k < K; first_k += BK) {
        const int depth = smaller(BK, K - first_k);
        for (int j = 0; j < N; j += NR) {
            for (int i = 0; i < M; i += MR) {
                const int rows = smaller(MR, M - i), columns = smaller(NR, N - j);
                const float *a = &A[i * K + first_k], *b = &B[first_k * N + j];
                if (rows == MR && columns == NR) {
                    full_tile(a, b, &C[i * N + j], N, K, depth);
                } else {
                    part_tile(a, b, &C[i * N + j], N, K, depth, rows, columns);
                }
            }
        }
    }
}
