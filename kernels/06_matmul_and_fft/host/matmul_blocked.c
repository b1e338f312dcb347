// C = A B for row-major fp32 matrices: A is M x K, B is K x N, C is M x N.
// Any shape with fewer than 2^31 elements a matrix.
// Adds to matmul_ikj: two loops around it cut B into blocks of BK x BN that fit into a cache. Every
// row of A and C meets a block before the next block comes, so B is fetched once, not M times.
// Limit: for each multiply-add, C and B are loaded into registers and C is stored again.
// Build: cc -O3 -march=native -shared -fPIC matmul_blocked.c -o matmul_blocked.so

#ifndef BK
#define BK 32
#endif
#ifndef BN
#define BN 1024
#endif

static int smaller(int x, int y)
{
    return x < y ? x : y;
}

void matmul_blocked(const float *restrict A, const float *restrict B, float *restrict C, int M,
                    int N, int K)
{
    for (int element = 0; element < M * N; ++element) {
        C[element] = 0.0f;
    }
    for (int first_k = 0; first_k < K; first_k += BK) {
        const int end_k = smaller(first_k + BK, K); // the last block may be smaller
        for (int first_j = 0; first_j < N; first_j += BN) {
            const int end_j = smaller(first_j + BN, N);
            for (int i = 0; i < M; ++i) {
                for (int k = first_k; k < end_k; ++k) {
                    const float a = A[i * K + k];
                    for (int j = first_j; j < end_j; ++j) {
                        C[i * N + j] += a * B[k * N + j];
                    }
                }
            }
        }
    }
}
