// C = A B for row-major fp32 matrices: A is M x K, B is K x N, C is M x N.
// Any shape with fewer than 2^31 elements a matrix.
// Adds to matmul_ijk: loops j and k are interchanged, so that the innermost one has stride 1 in B
// and C. restrict promises that C overlaps neither A nor B; SIMD then needs no other text than this.
// Limit: the whole of B comes by again for each row of C, and each sum goes to memory and back.
// Build: cc -O2 -shared -fPIC matmul_ikj.c -o matmul_ikj.so

void matmul_ikj(const float *restrict A, const float *restrict B, float *restrict C, int M, int N,
                int K)
{
    for (int i = 0; i < M; ++i) {
        for (int j = 0; j < N; ++j) {
            C[i * N + j] = 0.0f;
        }
        for (int k = 0; k < K; ++k) {
            const float a = A[i * K + k];
            for (int j = 0; j < N; ++j) {
                C[i * N + j] += a * B[k * N + j];
            }
        }
    }
}
