// C = A B for row-major fp32 matrices: A is M x K, B is K x N, C is M x N. Any shape with fewer
// than 2^31 elements a matrix (indices are int) and at most 65535 blocks along y.
// Adds to sgemm_naive: x and y are swapped. A warp now computes neighbours in one row of C, so it
// reads one element of A for all its threads and 32 neighbours of B.
// Limit: memory bandwidth still. Two loads for each multiplication, and every element of A and of B
// is loaded again by each thread that needs it.
// grid (ceil(N / 32), ceil(M / 32)), block (32, 32), dynamic shared 0

extern "C" __global__ void sgemm_coalesced(const float *A, const float *B, float *C, int M, int N,
                                           int K)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M && column < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; ++k) {
            sum += A[row * K + k] * B[k * N + column];
        }
        C[row * N + column] = sum;
    }
}
