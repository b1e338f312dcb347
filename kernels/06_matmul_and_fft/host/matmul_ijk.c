// C = A B for row-major fp32 matrices: A is M x K, B is K x N, C is M x N.
// Any shape with fewer than 2^31 elements a matrix.
// The definition, written down: one element of C after the other, a row of A times a column of B.
// Limit: reads down a column of B have a stride of N, so each is in another cache line.
// Build: cc -O2 -shared -fPIC matmul_ijk.c -o matmul_ijk.so

void matmul_ijk(const float *A, const float *B, float *C, int M, int N, int K)
{
    for (int i = 0; i < M; ++i) {
        for (int j = 0; j < N; ++j) {
            float sum = 0.0f;
            for (int k = 0; k < K; ++k) {
                sum += A[i * K + k] * B[k * N + j];
            }
            C[i * N + j] = sum;
        }
    }
}
