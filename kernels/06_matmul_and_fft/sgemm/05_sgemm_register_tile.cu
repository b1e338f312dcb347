// C = A B for row-major fp32 matrices: A is M x K, B is K x N, C is M x N. Any shape with fewer
// than 2^31 elements a matrix (indices are int) and at most 65535 blocks along y.
// Adds to sgemm_column_tile: a thread computes 8 x 8 results. For each k it reads 8 operands of A
// and 8 of B into registers and makes 64 products of them: a load for every four products.
// Limit: the loads are still many and narrow, 4 bytes each.
// grid (ceil(N / 128), ceil(M / 128)), block (256), dynamic shared 0

constexpr int BM = 128; // of C: the block's tile
constexpr int BN = 128;
constexpr int BK = 8;
constexpr int TM = 8; // of C: the thread's tile
constexpr int TN = 8;
constexpr int kThreads = (BM / TM) * (BN / TN);

extern "C" __global__ void __launch_bounds__(kThreads)
    sgemm_register_tile(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float tile_a[BM][BK];
    __shared__ float tile_b[BK][BN];
    int first_row = blockIdx.y * BM; // of the block's tile in C
    int first_column = blockIdx.x * BN;
    int row = threadIdx.x / (BN / TN) * TM; // of the thread's tile in the block's
    int column = threadIdx.x % (BN / TN) * TN;

    float sum[TM][TN] = {};
    for (int start = 0; start < K; start += BK) {
        for (int element = threadIdx.x; element < BM * BK; element += kThreads) {
            int y = element / BK, k = element % BK;
            bool inside = first_row + y < M && start + k < K;
            tile_a[y][k] = inside ? A[(first_row + y) * K + start + k] : 0.0f;
        }
        for (int element = threadIdx.x; element < BK * BN; element += kThreads) {
            int k = element / BN, x = element % BN;
            bool inside = start + k < K && first_column + x < N;
            tile_b[k][x] = inside ? B[(start + k) * N + first_column + x] : 0.0f;
        }
        __syncthreads(); // both tiles are complete
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
        __syncthreads(); // every warp is done with these tiles
    }
#pragma unroll
    for (int i = 0; i < TM; ++i) {
#pragma unroll
        for (int j = 0; j < TN; ++j) {
            if (first_row + row + i < M && first_column + column + j < N) {
                C[(first_row + row + i) * N + first_column + column + j] = sum[i][j];
            }
        }
    }
}
