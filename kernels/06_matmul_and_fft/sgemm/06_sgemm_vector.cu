// C = A B for row-major fp32 matrices: A is M x K, B is K x N, C is M x N. Any shape with fewer
// than 2^31 elements a matrix (indices are int) and at most 65535 blocks along y.
// Adds to sgemm_register_tile: loads and stores of 16 bytes. A's tile is transposed on the way into
// shared memory, so that the 8 operands of a thread lie side by side in both tiles and two wide
// loads fetch them.
// Limit: bank conflicts, in the transposed stores of A and in the wide loads of B.
// grid (ceil(N / 128), ceil(M / 128)), block (256), dynamic shared 0

#include "tile.cuh"

constexpr int BM = 128; // of C: the block's tile
constexpr int BN = 128;
constexpr int BK = 8;
constexpr int TM = 8; // of C: the thread's tile
constexpr int TN = 8;
constexpr int kThreads = (BM / TM) * (BN / TN);
static_assert(BM * BK == 4 * kThreads && BK * BN == 4 * kThreads, "a thread loads four of each");

extern "C" __global__ void __launch_bounds__(kThreads)
    sgemm_vector(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ __align__(16) float tile_a[BK][BM]; // column k of A's tile is row k here
    __shared__ __align__(16) float tile_b[BK][BN];
    int first_row = blockIdx.y * BM; // of the block's tile in C
    int first_column = blockIdx.x * BN;
    int row = threadIdx.x / (BN / TN) * TM; // of the thread's tile in the block's
    int column = threadIdx.x % (BN / TN) * TN;
    int a_row = threadIdx.x / (BK / 4); // the four elements of each tile that the thread loads
    int a_k = threadIdx.x % (BK / 4) * 4;
    int b_k = threadIdx.x / (BN / 4);
    int b_column = threadIdx.x % (BN / 4) * 4;

    float sum[TM][TN] = {};
    for (int start = 0; start < K; start += BK) {
        int y = first_row + a_row;
        float4 from_a = load_row4(A + y * K, start + a_k, K, y < M);
        float4 from_b =
            load_row4(B + (start + b_k) * N, first_column + b_column, N, start + b_k < K);
        tile_a[a_k + 0][a_row] = from_a.x;
        tile_a[a_k + 1][a_row] = from_a.y;
        tile_a[a_k + 2][a_row] = from_a.z;
        tile_a[a_k + 3][a_row] = from_a.w;
        *reinterpret_cast<float4 *>(&tile_b[b_k][b_column]) = from_b;
        __syncthreads(); // both tiles are complete
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            float a[TM], b[TN];
#pragma unroll
            for (int i = 0; i < TM; i += 4) {
                *reinterpret_cast<float4 *>(a + i) =
                    *reinterpret_cast<float4 *>(&tile_a[k][row + i]);
            }
#pragma unroll
            for (int j = 0; j < TN; j += 4) {
                *reinterpret_cast<float4 *>(b + j) =
                    *reinterpret_cast<float4 *>(&tile_b[k][column + j]);
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
        if (first_row + row + i < M) {
#pragma unroll
            for (int j = 0; j < TN; j += 4) {
                float4 four = make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
                store_row4(C + (first_row + row + i) * N, first_column + column + j, N, four);
            }
        }
    }
}
