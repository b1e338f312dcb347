// C = A B for row-major A (M x K), B (K x N) and C (M x N); one thread owns one element of C.
// A block of 1024 threads in a line covers a tile of 32 x 32 elements. Which thread gets which
// element decides how many sectors a warp's loads touch.
// Any shape with fewer than 2^31 elements a matrix.
// grid (ceil(N / 32), ceil(M / 32)), block 1024, dynamic shared 0

constexpr int kTile = 32;

extern "C" __global__ void coalesced_matmul(
    const float* A, const float* B, float* C, int M, int N, int K)
{
    // TODO: the 32 threads of a warp have neighbouring threadIdx.x. Here they run down a column of
    //       C, and touch 32 rows of A. Give them neighbouring elements of one row instead.
    // STARTER
    //| const int row = blockIdx.y * kTile + threadIdx.x % kTile;
    //| const int column = blockIdx.x * kTile + threadIdx.x / kTile;
    // SOLUTION
    const int row = blockIdx.y * kTile + threadIdx.x / kTile;
    const int column = blockIdx.x * kTile + threadIdx.x % kTile;
    // END

    if (row < M && column < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; ++k) {
            sum += A[row * K + k] * B[k * N + column];
        }
        C[row * N + column] = sum;
    }
}
