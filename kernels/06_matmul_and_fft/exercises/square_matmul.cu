// C = A B for row-major A (M x K), B (K x N) and C (M x N). A block covers 32 x 32 elements of C
// with 64 threads, and each thread owns 4 x 4 of them.
// Any shape with fewer than 2^31 elements a matrix.
// grid (ceil(N / 32), ceil(M / 32)), block 64, dynamic shared 0

constexpr int BM = 32;  // the block's tile of C
constexpr int BN = 32;
constexpr int BK = 8;
constexpr int TM = 4;  // the thread's tile of C
constexpr int TN = 4;
constexpr int kThreads = (BM / TM) * (BN / TN);

extern "C" __global__ void square_matmul(
    const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float tile_a[BM][BK];
    __shared__ float tile_b[BK][BN];

    const int first_row = blockIdx.y * BM;  // of the block's tile in C
    const int first_column = blockIdx.x * BN;
    // TODO: row and column of the thread's first element in the block's tile: neighbouring threads
    //       own neighbouring sub-tiles of 4 x 4, BN / TN of them side by side
    // STARTER
    //| const int row = 0;
    //| const int column = 0;
    // SOLUTION
    const int row = threadIdx.x / (BN / TN) * TM;
    const int column = threadIdx.x % (BN / TN) * TN;
    // END

    float sum[TM][TN] = {};
    for (int start = 0; start < K; start += BK) {
        for (int element = threadIdx.x; element < BM * BK; element += kThreads) {
            const int y = element / BK, k = element % BK;
            const bool inside = first_row + y < M && start + k < K;
            tile_a[y][k] = inside ? A[(first_row + y) * K + start + k] : 0.0f;
        }
        for (int element = threadIdx.x; element < BK * BN; element += kThreads) {
            const int k = element / BN, x = element % BN;
            const bool inside = start + k < K && first_column + x < N;
            tile_b[k][x] = inside ? B[(start + k) * N + first_column + x] : 0.0f;
        }
        __syncthreads();  // both tiles are complete

        // TODO: for each k, read TM operands of A and TN of B into registers, then make their
        //       TM * TN products; every loop over a register array is unrolled
        // SOLUTION
        for (int k = 0; k < BK; ++k) {
            float a[TM], b[TN];
#pragma unroll
            for (int i = 0; i < TM; ++i) {
                a[i] = tile_a[row + i][k];
            }
#pragma unroll
            for (int j = 0; j < TN; ++j) {
                b[j] = tile_b[k][column + j];
            }
#pragma unroll
            for (int i = 0; i < TM; ++i) {
#pragma unroll
                for (int j = 0; j < TN; ++j) {
                    sum[i][j] += a[i] * b[j];
                }
            }
        }
        // END
        __syncthreads();  // no thread needs these tiles any more
    }

    // TODO: store the thread's results, those that are inside C
    // SOLUTION
#pragma unroll
    for (int i = 0; i < TM; ++i) {
#pragma unroll
        for (int j = 0; j < TN; ++j) {
            if (first_row + row + i < M && first_column + column + j < N) {
                C[(first_row + row + i) * N + first_column + column + j] = sum[i][j];
            }
        }
    }
    // END
}
