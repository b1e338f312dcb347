// C = A B^T for row-major matrices: A is M x K and B is N x K in fp16, C is M x N in fp32, as the
// sums are. Any shape with at most 65535 blocks along y.
// Adds to hgemm_ldmatrix: the XOR swizzle. Chunk c of row r is chunk c ^ (r % 8) of the row, so
// that a chunk's eight rows lie in eight different groups of four banks: no bank conflicts.
// Limit: the latency of global memory: loads, barrier, products and barrier are serialised.
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
constexpr int kStepBytes = 16 * 2;        // of a row, for one mma
constexpr int k16Rows = 16 * BK * 2;      // bytes
constexpr int kTilesM = WM / 16;          // of one mma, in the warp's tile
constexpr int kTilesN = WN / 8;
static_assert(kChunks == 8, "a row of a tile is 128 bytes");
static_assert(BM % kRows == 0 && BN % kRows == 0, "loads come out even");

// Which of a tile's chunks of 16 bytes is chunk `chunk` of row `row`.
__device__ inline int place_of(int row, int chunk)
{
    return row * kChunks + (chunk ^ (row % 8));
}

extern "C" __global__ void __launch_bounds__(kThreads, 2)
    hgemm_swizzle(const __half *A, const __half *B, float *C, int M, int N, int K)
{
    __shared__ __align__(128) uint4 tile_a[BM * kChunks];
    __shared__ __align__(128) uint4 tile_b[BN * kChunks];
    int first_row = blockIdx.y * BM; // of the block's tile in C
    int first_column = blockIdx.x * BN;
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    int warp_row = warp / (BN / WN) * WM; // of the warp's tile in the block's
    int warp_column = warp % (BN / WN) * WN;
    int load_row = threadIdx.x / kChunks; // the first chunk of each tile that the thread loads
    int load_chunk = threadIdx.x % kChunks;
    // Lanes 0-15 give the 16 rows of a fragment of A, left half, lanes 16-31 the right half; of B
    // lanes 0-7 and 16-23 give 16 rows (columns of B^T), left half, the others the right half.
    int a_row = warp_row + lane % 16;
    int a_half = lane / 16;
    int b_row = warp_column + lane % 8 + lane / 16 * 8;
    int b_half = lane / 8 % 2;
    unsigned rows_a = shared_address(&tile_a[place_of(a_row, a_half)]); // of its first fragment
    unsigned rows_b = shared_address(&tile_b[place_of(b_row, b_half)]);

    float sum[kTilesM][kTilesN][4] = {};
    for (int start = 0; start < K; start += BK) {
        uint4 from_a[BM / kRows], from_b[BN / kRows]; // all loads are in flight at once
        int load_k = start + load_chunk * kChunk;
#pragma unroll
        for (int i = 0; i < BM / kRows; ++i) {
            int y = first_row + load_row + i * kRows;
            from_a[i] = load_row_16_bytes(A + (size_t)y * K, load_k, K, y < M);
        }
#pragma unroll
        for (int i = 0; i < BN / kRows; ++i) {
            int x = first_column + load_row + i * kRows;
            from_b[i] = load_row_16_bytes(B + (size_t)x * K, load_k, K, x < N);
        }
        __syncthreads(); // every warp is done with the tiles before these
#pragma unroll
        for (int i = 0; i < BM / kRows; ++i) {
            tile_a[place_of(load_row + i * kRows, load_chunk)] = from_a[i];
        }
#pragma unroll
        for (int i = 0; i < BN / kRows; ++i) {
            tile_b[place_of(load_row + i * kRows, load_chunk)] = from_b[i];
        }
        __syncthreads(); // both tiles are complete
#pragma unroll
        for (int k = 0; k < BK / 16; ++k) {
            unsigned a[kTilesM][4], b[kTilesN / 2][4]; // two fragments of B at a time
            // Chunk k * 2 + half of a row: XOR takes k into the address as it does in place_of(),
            // because rows begin at multiples of 128 bytes.
#pragma unroll
            for (int i = 0; i < kTilesM; ++i) {
                ldmatrix_4(a[i], (rows_a ^ k * kStepBytes) + i * k16Rows);
            }
#pragma unroll
            for (int j = 0; j < kTilesN / 2; ++j) {
                ldmatrix_4(b[j], (rows_b ^ k * kStepBytes) + j * k16Rows);
            }
#pragma unroll
            for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
                for (int j = 0; j < kTilesN; ++j) {
                    mma_f16(sum[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
                }
            }
        }
    }
#pragma unroll
    for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
        for (int j = 0; j < kTilesN; ++j) {
            int y = first_row + warp_row + i * 16 + lane / 4;
            int x = first_column + warp_column + j * 8 + lane % 4 * 2;
            if (y < M) {
                store_row_pair(C + (size_t)y * N, x, N, sum[i][j][0], sum[i][j][1]);
            }
            if (y + 8 < M) {
                store_row_pair(C + (size_t)(y + 8) * N, x, N, sum[i][j][2], sum[i][j][3]);
            }
        }
    }
}
