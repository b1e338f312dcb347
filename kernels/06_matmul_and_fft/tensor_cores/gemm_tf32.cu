// C = A B^T for row-major fp32 matrices: A is M x K, B is N x K, C is M x N. Any shape with at most
// 65535 blocks along y.
// Like hgemm_mma, for TF32: the operands are rounded to 10 bits of fraction on their way to shared
// memory, and mma.sync.m16n8k8 sums their products in fp32. Rows are padded by 4 floats, so that
// eight rows of a fragment begin at different banks: no conflicts.
// Limit: the latency of global memory, and three 32-bit loads for every two mma.
// grid (ceil(N / 128), ceil(M / 128)), block (256), dynamic shared 0

#include "ptx.cuh"
#include "row.cuh"

constexpr int BM = 128; // of C: the block's tile
constexpr int BN = 128;
constexpr int BK = 32; // elements of a row: 128 bytes
constexpr int WM = 64; // of C: the warp's tile
constexpr int WN = 32;
constexpr int kPad = 4; // keeps 16-byte stores aligned
constexpr int kThreads = (BM / WM) * (BN / WN) * 32;
constexpr int kChunk = 4;                 // elements of 16 bytes
constexpr int kChunks = BK / kChunk;      // of a row
constexpr int kRows = kThreads / kChunks; // that the block loads at once
constexpr int kTilesM = WM / 16;          // of one mma, in the warp's tile
constexpr int kTilesN = WN / 8;
static_assert(BM % kRows == 0 && BN % kRows == 0, "loads come out even");

// Four fp32 numbers, given as their bits, rounded to TF32.
__device__ inline uint4 rounded(uint4 bits)
{
    return make_uint4(to_tf32(__uint_as_float(bits.x)), to_tf32(__uint_as_float(bits.y)),
                      to_tf32(__uint_as_float(bits.z)), to_tf32(__uint_as_float(bits.w)));
}

extern "C" __global__ void __launch_bounds__(kThreads, 2)
    gemm_tf32(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ __align__(16) unsigned tile_a[BM][BK + kPad];
    __shared__ __align__(16) unsigned tile_b[BN][BK + kPad];
    int first_row = blockIdx.y * BM; // of the block's tile in C
    int first_column = blockIdx.x * BN;
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    int warp_row = warp / (BN / WN) * WM; // of the warp's tile in the block's
    int warp_column = warp % (BN / WN) * WN;
    int load_row = threadIdx.x / kChunks; // the first chunk of each tile that the thread loads
    int load_k = threadIdx.x % kChunks * kChunk;
    int group = lane / 4; // the lane's row in a fragment of A or C, its column of B^T in one of B
    int pair = lane % 4;  // its first index along K in A and B

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
            *reinterpret_cast<uint4 *>(&tile_a[load_row + i * kRows][load_k]) = rounded(from_a[i]);
        }
#pragma unroll
        for (int i = 0; i < BN / kRows; ++i) {
            *reinterpret_cast<uint4 *>(&tile_b[load_row + i * kRows][load_k]) = rounded(from_b[i]);
        }
        __syncthreads(); // both tiles are complete
#pragma unroll
        for (int k = 0; k < BK; k += 8) {
            unsigned a[kTilesM][4], b[kTilesN][2];
#pragma unroll
            for (int i = 0; i < kTilesM; ++i) { // four quarters of 8 x 4: down, then right
                int y = warp_row + i * 16 + group;
                a[i][0] = tile_a[y][k + pair];
                a[i][1] = tile_a[y + 8][k + pair];
                a[i][2] = tile_a[y][k + pair + 4];
                a[i][3] = tile_a[y + 8][k + pair + 4];
            }
#pragma unroll
            for (int j = 0; j < kTilesN; ++j) {
                int x = warp_column + j * 8 + group;
                b[j][0] = tile_b[x][k + pair];
                b[j][1] = tile_b[x][k + pair + 4];
            }
#pragma unroll
            for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
                for (int j = 0; j < kTilesN; ++j) {
                    mma_tf32(sum[i][j], a[i], b[j][0], b[j][1]);
                }
            }
        }
    }
#pragma unroll
    for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
        for (int j = 0; j < kTilesN; ++j) {
            int y = first_row + warp_row + i * 16 + group;
            int x = first_column + warp_column + j * 8 + pair * 2;
            if (y < M) {
                store_row_pair(C + (size_t)y * N, x, N, sum[i][j][0], sum[i][j][1]);
            }
            if (y + 8 < M) {
                store_row_pair(C + (size_t)(y + 8) * N, x, N, sum[i][j][2], sum[i][j][3]);
            }
        }
    }
}
