// C = A B for row-major fp32 matrices: A is M x K, B is K x N, C is M x N. Any shape with fewer
// than 2^31 elements a matrix (indices are int) and at most 65535 blocks along y.
// Adds to sgemm_vector: no two lanes ask one bank for different words. Rows of A's transposed tile
// are 4 floats longer, and a thread's 8 x 8 results are four sub-tiles of 4 x 4, half a tile apart,
// so that the 16-byte loads of neighbouring lanes lie side by side.
// Limit: the latency of global memory: loads, barrier, products and barrier are serialised.
// grid (ceil(N / 128), ceil(M / 128)), block (256), dynamic shared 0

#include "tile.cuh"

constexpr int BM = 128; // of C: the block's tile
constexpr int BN = 128;
constexpr int BK = 8;
constexpr int TM = 8; // of C: the thread's tile
constexpr int TN = 8;
constexpr int kThreads = (BM / TM) * (BN / TN);
constexpr int kPad = 4;        // keeps 16-byte loads aligned
constexpr int kHalfM = BM / 2; // distance of a thread's two sub-tiles
constexpr int kHalfN = BN / 2;
static_assert(BM * BK == 4 * kThreads && BK * BN == 4 * kThreads, "a thread loads four of each");

extern "C" __global__ void __launch_bounds__(kThreads)
    sgemm_conflict_free(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ __align__(16) float tile_a[BK][BM + kPad]; // column k of A's tile is row k here
    __shared__ __align__(16) float tile_b[BK][BN];
    int first_row = blockIdx.y * BM; // of the block's tile in C
    int first_column = blockIdx.x * BN;
    int row = threadIdx.x / (BN / TN) * 4; // of the thread's first sub-tile in the block's tile
    int column = threadIdx.x % (BN / TN) * 4;
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
                    *reinterpret_cast<float4 *>(&tile_a[k][row + i / 4 * kHalfM]);
            }
#pragma unroll
            for (int j = 0; j < TN; j += 4) {
                *reinterpret_cast<float4 *>(b + j) =
                    *reinterpret_cast<float4 *>(&tile_b[k][column + j / 4 * kHalfN]);
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
        int y = first_row + row + i / 4 * kHalfM + i % 4;
        if (y < M) {
#pragma unroll
            for (int j = 0; j < TN; j += 4) {
                float4 four = make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
                store_row4(C + y * N, first_column + column + j / 4 * kHalfN, N, four);
            }
        }
    }
}
