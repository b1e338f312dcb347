// C = A B^T for row-major matrices: A is M x K and B is N x K in fp16, C is M x N in fp32, as the
// sums are. Any shape with at most 65535 blocks along y.
// Adds to hgemm_wmma: the instruction itself, mma.sync.m16n8k16, whose layout of fragments is
// known. A lane gathers its operands with 32-bit loads, two neighbours along K each, and its
// results go straight from registers to C, at the edges too.
// Limit: shared memory bandwidth, as before: the eight rows that a load reaches begin at one bank.
// grid (ceil(N / 128), ceil(M / 128)), block (256), dynamic shared 0

#include <cuda_fp16.h>
#include "ptx.cuh"
#include "row.cuh"

constexpr int BM = 128; // of C: the block's tile
constexpr int BN = 128;
constexpr int BK = 64; // elements of a row in shared memory: 128 bytes
constexpr int WM = 64; // of C: the warp's tile
constexpr int WN = 32;
constexpr int kThreads = (BM / WM) * (BN / WN) * 32;
constexpr int kChunk = 8;                 // elements of 16 bytes
constexpr int kChunks = BK / kChunk;      // of a row
constexpr int kRows = kThreads / kChunks; // that the block loads at once
constexpr int kTilesM = WM / 16;          // of one mma, in the warp's tile
constexpr int kTilesN = WN / 8;
static_assert(BM % kRows == 0 && BN % kRows == 0, "loads come out even");

// Two neighbours along K in one register.
__device__ inline unsigned pair_at(const __half *first)
{
    return *reinterpret_cast<const unsigned *>(first);
}

extern "C" __global__ void __launch_bounds__(kThreads, 2)
    hgemm_mma(const __half *A, const __half *B, float *C, int M, int N, int K)
{
    __shared__ __align__(128) __half tile_a[BM][BK];
    __shared__ __align__(128) __half tile_b[BN][BK];
    int first_row = blockIdx.y * BM; // of the block's tile in C
    int first_column = blockIdx.x * BN;
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    int warp_row = warp / (BN / WN) * WM; // of the warp's tile in the block's
    int warp_column = warp % (BN / WN) * WN;
    int load_row = threadIdx.x / kChunks; // the first chunk of each tile that the thread loads
    int load_k = threadIdx.x % kChunks * kChunk;
    int group = lane / 4; // the lane's row in a fragment of A or C, its column of B^T in one of B
    int pair = lane % 4 * 2; // its first index along K in A and B, its first column in C

    float sum[kTilesM][kTilesN][4] = {};
    for (int start = 0; start < K; start += BK) {
        uint4 from_a[BM / kRows], from_b[BN / kRows]; // all loads are in flight at once
#pragma unroll
        for (int i = 0; i < BM / kRows; ++i) {
            int y = first_row + load_row + i * kRows;
            from_a[i] = load_row_16_bytes(A + (size_t)y * K, start + load_k, K, y < M);
        }
#pragma unroll
        for (int i = 0; i < BN / kRows; ++i) {
            int x = first_column + load_row + i * kRows;
            from_b[i] = load_row_16_bytes(B + (size_t)x * K, start + load_k, K, x < N);
        }
        __syncthreads(); // every warp is done with the tiles before these
#pragma unroll
        for (int i = 0; i < BM / kRows; ++i) {
            *reinterpret_cast<uint4 *>(&tile_a[load_row + i * kRows][load_k]) = from_a[i];
        }
#pragma unroll
        for (int i = 0; i < BN / kRows; ++i) {
            *reinterpret_cast<uint4 *>(&tile_b[load_row + i * kRows][load_k]) = from_b[i];
        }
        __syncthreads(); // both tiles are complete
#pragma unroll
        for (int k = 0; k < BK; k += 16) {
            unsigned a[kTilesM][4], b[kTilesN][2];
#pragma unroll
            for (int i = 0; i < kTilesM; ++i) { // four quarters of 8 x 8: down, then right
                int y = warp_row + i * 16 + group;
                a[i][0] = pair_at(&tile_a[y][k + pair]);
                a[i][1] = pair_at(&tile_a[y + 8][k + pair]);
                a[i][2] = pair_at(&tile_a[y][k + pair + 8]);
                a[i][3] = pair_at(&tile_a[y + 8][k + pair + 8]);
            }
#pragma unroll
            for (int j = 0; j < kTilesN; ++j) {
                int x = warp_column + j * 8 + group;
                b[j][0] = pair_at(&tile_b[x][k + pair]);
                b[j][1] = pair_at(&tile_b[x][k + pair + 8]);
            }
#pragma unroll
            for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
                for (int j = 0; j < kTilesN; ++j) {
                    mma_f16(sum[i][j], a[i], b[j][0], b[j][1]);
                }
            }
        }
    }
#pragma unroll
    for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
        for (int j = 0; j < kTilesN; ++j) {
            int y = first_row + warp_row + i * 16 + group;
            int x = first_column + warp_column + j * 8 + pair;
            if (y < M) {
                store_row_pair(C + (size_t)y * N, x, N, sum[i][j][0], sum[i][j][1]);
            }
            if (y + 8 < M) {
                store_row_pair(C + (size_t)(y + 8) * N, x, N, sum[i][j][2], sum[i][j][3]);
            }
        }
    }
}
