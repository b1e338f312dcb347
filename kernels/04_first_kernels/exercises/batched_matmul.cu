// Parameters: const float* A, const float* B, float* C, int batch, int M, int N, int K.
// C[b] = A[b] B[b] for `batch` pairs of matrices: A is (batch, M, K), B (batch, K, N), C (batch, M,
// N), each row-major. One thread owns one element of C. Takes any shape.
// grid (ceil(N / 8), ceil(M / 8), batch), block (8, 8, 1), dynamic shared 0

// TODO: write the kernel batched_matmul from its first line
// SOLUTION
extern "C" __global__ void batched_matmul(
    const float* A, const float* B, float* C, int batch, int M, int N, int K)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int b = blockIdx.z * blockDim.z + threadIdx.z;
    if (b >= batch || row >= M || column >= N) {
        return;
    }

    float sum = 0.0f;
    for (int k = 0; k < K; ++k) {
        sum += A[(b * M + row) * K + k] * B[(b * K + k) * N + column];
    }
    C[(b * M + row) * N + column] = sum;
}
// END
