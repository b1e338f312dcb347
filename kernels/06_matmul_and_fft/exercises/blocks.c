// C = A B for row-major A (M x K), B (K x N) and C (M x N), a block of B after the other. Takes any
// shape: the last blocks may be smaller than BK x BN. read_a(i, k) is A[i * K + k], read_b(k, j) is
// B[k * N + j]. Both are the checker's: it watches how often a read of B is in another block than
// the read before.

enum { BK = 8, BN = 16 };

float read_a(int i, int k);
float read_b(int k, int j);

static int smaller(int x, int y)
{
    return x < y ? x : y;
}

void product(float *C, int M, int N, int K)
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
                        C[i * N + j] += read_a(i, k) * read_b(k, j);
                    }
                }
            }
            // END
        }
    }
}
