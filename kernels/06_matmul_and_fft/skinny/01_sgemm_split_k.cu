// Partial products of row-major fp32 matrices, A (M x K) and B (K x N): slice z of `sums`, M x N, is
// A B over the z-th part of K, and the sum of all slices is the product. Any shape of which a matrix
// and all slices together have fewer than 2^31 elements.
// Adds to sgemm_conflict_free: blocks along z share a tile, so that a small C with a long K is work
// for the whole GPU. With -DATOMIC they add to one slice of zeros instead, in any order.
// Limit: every slice is written, and read again by split_k_finish.cu.
// grid (ceil(N / 64), ceil(M / 64), slices), block (256), dynamic shared 0

#include "tile.cuh"

constexpr int BM = 64; // of C: the block's tile
constexpr int BN = 64;
constexpr int BK = 16;
constexpr int TM = 4; // of C: the thread's tile
constexpr int TN = 4;
constexpr int kPad = 4; // keeps 16-byte loads aligned
constexpr int kThreads = (BM / TM) * (BN / TN);
static_assert(BM * BK == 4 * kThreads && BK * BN == 4 * kThreads, "a load of 16 bytes a tile");

extern "C" __global__ void __launch_bounds__(kThreads)
    sgemm_split_k(const float *A, const float *B, float *sums, int M, int N, int K)
{
    __shared__ __align__(16) float tile_a[BK][BM + kPad]; // transposed
    __shared__ __align__(16) float tile_b[BK][BN];
    int tid = threadIdx.x;
    int first_row = blockIdx.y * BM; // of the block's tile in C
    int first_column = blockIdx.x * BN;
    int row = tid / (BN / TN) * TM; // of the thread's tile in the block's
    int column = tid % (BN / TN) * TN;
    int a_row = tid / (BK / 4), a_k = tid % (BK / 4) * 4; // what the thread loads
    int b_k = tid / (BN / 4), b_column = tid % (BN / 4) * 4;

    int steps = (K + BK - 1) / BK; // of which this slice has its share
    int first_step = (int)((long long)steps * blockIdx.z / gridDim.z);
    int last_step = (int)((long long)steps * (blockIdx.z + 1) / gridDim.z);
    float sum[TM][TN] = {};
    for (int step = first_step; step < last_step; ++step) {
        int start = step * BK;
        int y = first_row + a_row;
        float4 from_a = load_row4(A + (size_t)y * K, start + a_k, K, y < M);
        float4 from_b = load_row4(B + (size_t)(start + b_k) * N, first_column + b_column, N,
                                  start + b_k < K);
        tile_a[a_k + 0][a_row] = from_a.x;
        tile_a[a_k + 1][a_row] = from_a.y;
        tile_a[a_k + 2][a_row] = from_a.z;
        tile_a[a_k + 3][a_row] = from_a.w;
        *reinterpret_cast<float4 *>(&tile_b[b_k][b_column]) = from_b;
        __syncthreads(); // both tiles are complete
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            float4 four_a = *reinterpret_cast<float4 *>(&tile_a[k][row]);
            float4 four_b = *reinterpret_cast<float4 *>(&tile_b[k][column]);
            const float a[TM] = {four_a.x, four_a.y, four_a.z, four_a.w};
            const float b[TN] = {four_b.x, four_b.y, four_b.z, four_b.w};
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
        int y = first_row + row + i, x = first_column + column;
        if (y < M) {
#ifdef ATOMIC
            for (int j = 0; j < TN && x + j < N; ++j) {
                atomicAdd(&sums[(size_t)y * N + x + j], sum[i][j]);
            }
#else
            float *slice = sums + (size_t)blockIdx.z * M * N;
            store_row4(slice + (size_t)y * N, x, N,
                       make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]));
#endif
        }
    }
}
