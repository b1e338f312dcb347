// C = A B for row-major A (M x K), B (K x N) and C (M x N), a block of B after the other. Takes any
// shape: the last blocks may be smaller than BK x BN.

enum { BK = 8, BN = 16 };

static int smaller(int x, int y)
{
    return x < y ? x : y;
}

void product(const float *A, const float *B, float *C, int M, int N, int K)
{
    for (int element = 0; element < M * N; ++element) {
        C[element] = 0.0f;
    }
    for (int first_k = 0; first_k < K; first_k += BK) {
        for (int first_j = 0; first_j < N; first_j += BN) {
            // TODO: say where this block ends in k and in j. Then let every row of A meet it: three
            //       loops, with the innermost along a row of B.
            // SOLUTION
            const int end_k = smaller(first_k + BK, K);
            const int end_j = smaller(first_j + BN, N);
            for (int i = 0; i < M; ++i) {
                for (int k = first_k; k < end_k; ++k) {
                    for (int j = first_j; j < end_j; ++j) {
                        C[i * N + j] += A[i * K + k] * B[k * N + j];
                    }
                }
            }
            // END
        }
    }
}
