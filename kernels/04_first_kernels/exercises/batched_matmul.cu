// C[b] = A[b] B[b] for `batch` pairs of matrices: A is (batch, M, K), B (batch, K, N), C (batch, M,
// N), each row-major. One thread owns one element of C. Takes any shape.
// grid (ceil(N / 8), ceil(M / 8), batch), block (8, 8, 1), dynamic shared 0

extern "C" __global__ void batched_matmul(
    const float* A, const float* B, float* C, int batch, int M, int N, int K)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    // TODO: which pair of matrices does this thread work on?
    // STARTER
    //| const int b = 0;
    // SOLUTION
    const int b = blockIdx.z * blockDim.z + threadIdx.z;
    // END
    if (b >= batch || row >= M || column >= N) {
        return;
    }

    // TODO: add up the K products; element (row, k) of matrix b of A lies at (b * M + row) * K + k
    // STARTER
    //| const float sum = 0.0f;
    // SOLUTION
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) {
        sum += A[(b * M + row) * K + k] * B[(b * K + k) * N + column];
    }
    // END
    C[(b * M + row) * N + column] = sum;
}
