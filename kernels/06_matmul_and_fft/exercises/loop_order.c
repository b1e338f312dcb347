// C = A B for row-major A (M x K), B (K x N) and C (M x N). Takes any shape; C comes with anything
// in it. read_a(i, k) is A[i * K + k], read_b(k, j) is B[k * N + j]. Both are the checker's: it
// watches how often a read of B is in another cache line (16 floats) than the read before.

float read_a(int i, int k);
float read_b(int k, int j);

void product(float *C, int M, int N, int K)
{
    // TODO: this is right, but reads down the columns of B. Order the loops so that the innermost
    //       one reads along a row of B.
    // STARTER
    //| for (int i = 0; i < M; ++i) {
    //|     for (int j = 0; j < N; ++j) {
    //|         float sum = 0.0f;
    //|         for (int k = 0; k < K; ++k) {
    //|             sum += read_a(i, k) * read_b(k, j);
    //|         }
    //|         C[i * N + j] = sum;
    //|     }
    //| }
    // SOLUTION
    for (int i = 0; i < M; ++i) {
        for (int j = 0; j < N; ++j) {
            C[i * N + j] = 0.0f;
        }
        for (int k = 0; k < K; ++k) {
            for (int j = 0; j < N; ++j) {
                C[i * N + j] += read_a(i, k) * read_b(k, j);
            }
        }
    }
    // END
}
