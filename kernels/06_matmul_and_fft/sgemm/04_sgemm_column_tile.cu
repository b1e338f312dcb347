// C = A B for row-major fp32 matrices: A is M x K, B is K x N, C is M x N. Any shape with fewer
// than 2^31 elements a matrix (indices are int) and at most 65535 blocks along y.
// Adds to sgemm_shared: a thread computes TM = 8 results, one below the other. An operand read from
// tile_b stays in a register for 8 products, so shared memory is read 9 times for 8 products and no
// longer 16 times.
// Limit: shared memory bandwidth still: a little more than one load for each product.
// grid (ceil(N / 64), ceil(M / 64)), block (512), dynamic shared 0

constexpr int BM = 64; // of C: the block's tile
constexpr int BN = 64;
constexpr int BK = 8;
constexpr int TM = 8; // rows of C of one thread
constexpr int kThreads = BM * BN / TM;
static_assert(kThreads == BM * BK && kThreads == BK * BN,
              "a thread loads one element of each tile");

extern "C" __global__ void sgemm_column_tile(const float *A, const float *B, float *C, int M, int N,
                                             int K)
{
    __shared__ float tile_a[BM][BK];
    __shared__ float tile_b[BK][BN];
    int first_row = blockIdx.y * BM; // of the block's tile in C
    int first_column = blockIdx.x * BN;
    int row = threadIdx.x / BN * TM; // the thread's first row in the tile
    int column = threadIdx.x % BN;
    int a_row = threadIdx.x / BK; // the element of each tile that the thread loads
    int a_k = threadIdx.x % BK;
    int b_k = threadIdx.x / BN;
    int b_column = threadIdx.x % BN;

    float sum[TM] = {};
    for (int start = 0; start < K; start += BK) {
        bool in_a = first_row + a_row < M && start + a_k < K;
        bool in_b = start + b_k < K && first_column + b_column < N;
        tile_a[a_row][a_k] = in_a ? A[(first_row + a_row) * K + start + a_k] : 0.0f;
        tile_b[b_k][b_column] = in_b ? B[(start + b_k) * N + first_column + b_column] : 0.0f;
        __syncthreads(); // both tiles are complete
        for (int k = 0; k < BK; ++k) {
            float b = tile_b[k][column];
#pragma unroll
            for (int i = 0; i < TM; ++i) {
                sum[i] += tile_a[row + i][k] * b;
            }
        }
        __syncthreads(); // every warp is done with these tiles
    }
#pragma unroll
    for (int i = 0; i < TM; ++i) {
        if (first_row + row + i < M && first_column + column < N) {
            C[(first_row + row + i) * N + first_column + column] = sum[i];
        }
    }
}
