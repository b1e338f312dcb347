// C = A B for row-major A (M x K), B (K x N) and C (M x N). A block covers 32 x 32 elements of C
// with 256 threads, so each thread computes four, one below the other.
// Any shape with fewer than 2^31 elements a matrix.
// grid (ceil(N / 32), ceil(M / 32)), block 256, dynamic shared 0

constexpr int BM = 32;  // the block's tile of C
constexpr int BN = 32;
constexpr int BK = 8;
constexpr int TM = 4;  // rows of C that one thread owns

extern "C" __global__ void column_matmul(
    const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float tile_a[BM][BK];
    __shared__ float tile_b[BK][BN];

    const int first_row = blockIdx.y * BM;  // of the block's tile in C
    const int first_column = blockIdx.x * BN;
    const int row = threadIdx.x / BN * TM;  // of the thread's first result in the tile
    const int column = threadIdx.x % BN;
    const int a_row = threadIdx.x / BK;  // what the thread loads
    const int a_k = threadIdx.x % BK;
    const int b_k = threadIdx.x / BN;

    float sum[TM] = {};
    for (int start = 0; start < K; start += BK) {
        const bool in_a = first_row + a_row < M && start + a_k < K;
        const bool in_b = start + b_k < K && first_column + column < N;
        tile_a[a_row][a_k] = in_a ? A[(first_row + a_row) * K + start + a_k] : 0.0f;
        tile_b[b_k][column] = in_b ? B[(start + b_k) * N + first_column + column] : 0.0f;
        __syncthreads();  // both tiles are complete

        // TODO: for each k, read one operand of B into a register and add its TM products to sum;
        //       the thread's rows in the tile are row, row + 1, ..., row + TM - 1
        // SOLUTION
        for (int k = 0; k < BK; ++k) {
            const float b = tile_b[k][column];
#pragma unroll
            for (int i = 0; i < TM; ++i) {
                sum[i] += tile_a[row + i][k] * b;
            }
        }
        // END
        __syncthreads();  // no thread needs these tiles any more
    }

    // TODO: store the TM results, those that are inside C
    // SOLUTION
#pragma unroll
    for (int i = 0; i < TM; ++i) {
        if (first_row + row + i < M && first_column + column < N) {
            C[(first_row + row + i) * N + first_column + column] = sum[i];
        }
    }
    // END
}
