// C = A B for row-major fp32 matrices: A is M x K, B is K x N, C is M x N. Any shape with fewer
// than 2^31 elements a matrix (indices are int) and at most 65535 blocks along y.
// The idea: one thread computes one element of C, the product of a row of A and a column of B.
// Limit: the bandwidth of the L1 cache. x runs down the rows, so the 32 threads of a warp read 32 rows of
// A at once, and each of them needs a sector of its own.
// grid (ceil(M / 32), ceil(N / 32)), block (32, 32), dynamic shared 0

extern "C" __global__ void sgemm_naive(const float *A, const float *B, float *C, int M, int N,
                                       int K)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int column = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < M && column < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; ++k) {
            sum += A[row * K + k] * B[k * N + column];
        }
        C[row * N + column] = sum;
    }
}
