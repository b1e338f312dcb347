// C = A B^T for row-major matrices: A is M x K and B is N x K in fp16, C is M x N in fp32, as the
// sums are. Any shape with at most 65535 blocks along y.
// The first rung on tensor cores: a warp multiplies tiles of 16 x 16 x 16, and nvcuda::wmma loads
// them from shared memory into "fragments", distributed over the registers of its 32 lanes.
// Limit: shared memory bandwidth. Rows of 128 bytes begin at one bank, so eight rows of a fragment
// are serialised. And a fragment's layout is not said: C's edges are reached by way of shared
// memory.
// grid (ceil(N / 128), ceil(M / 128)), block (256), dynamic shared 0

#include <mma.h>
#include "row.cuh"

using namespace nvcuda;

constexpr int BM = 128; // of C: the block's tile
constexpr int BN = 128;
constexpr int BK = 64; // elements of a row in shared memory: 128 bytes
constexpr int WM = 64; // of C: the warp's tile
constexpr int WN = 32;
constexpr int kTile = 16; // of a fragment, every way
constexpr int kWarps = (BM / WM) * (BN / WN);
constexpr int kThreads = kWarps * 32;
constexpr int kChunk = 8;                 // elements of 16 bytes
constexpr int kChunks = BK / kChunk;      // of a row
constexpr int kRows = kThreads / kChunks; // that the block loads at once
constexpr int kTilesM = WM / kTile;       // fragments of the warp's tile
constexpr int kTilesN = WN / kTile;
static_assert(BM % kRows == 0 && BN % kRows == 0, "loads come out even");

extern "C" __global__ void __launch_bounds__(kThreads, 2)
    hgemm_wmma(const __half *A, const __half *B, float *C, int M, int N, int K)
{
    __shared__ __align__(128) __half tile_a[BM][BK];
    __shared__ __align__(128) __half tile_b[BN][BK];
    __shared__ __align__(128) float results[kWarps][kTile][kTile];
    int first_row = blockIdx.y * BM; // of the block's tile in C
    int first_column = blockIdx.x * BN;
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    int warp_row = warp / (BN / WN) * WM; // of the warp's tile in the block's
    int warp_column = warp % (BN / WN) * WN;
    int load_row = threadIdx.x / kChunks; // the first chunk of each tile that the thread loads
    int load_k = threadIdx.x % kChunks * kChunk;

    wmma::fragment<wmma::accumulator, kTile, kTile, kTile, float> sum[kTilesM][kTilesN];
#pragma unroll
    for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
        for (int j = 0; j < kTilesN; ++j) {
            wmma::fill_fragment(sum[i][j], 0.0f);
        }
    }
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
        for (int k = 0; k < BK; k += kTile) {
            wmma::fragment<wmma::matrix_a, kTile, kTile, kTile, __half, wmma::row_major> a[kTilesM];
            wmma::fragment<wmma::matrix_b, kTile, kTile, kTile, __half, wmma::col_major> b[kTilesN];
#pragma unroll
            for (int i = 0; i < kTilesM; ++i) {
                wmma::load_matrix_sync(a[i], &tile_a[warp_row + i * kTile][k], BK);
            }
#pragma unroll
            for (int j = 0; j < kTilesN; ++j) { // a row of B's tile is a column of B^T
                wmma::load_matrix_sync(b[j], &tile_b[warp_column + j * kTile][k], BK);
            }
#pragma unroll
            for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
                for (int j = 0; j < kTilesN; ++j) {
                    wmma::mma_sync(sum[i][j], a[i], b[j], sum[i][j]);
                }
            }
        }
    }
#pragma unroll
    for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
        for (int j = 0; j < kTilesN; ++j) {
            wmma::store_matrix_sync(&results[warp][0][0], sum[i][j], kTile, wmma::mem_row_major);
            __syncwarp();
            for (int element = lane; element < kTile * kTile; element += 32) {
                int y = first_row + warp_row + i * kTile + element / kTile;
                int x = first_column + warp_column + j * kTile + element % kTile;
                if (y < M && x < N) {
                    C[(size_t)y * N + x] = results[warp][element / kTile][element % kTile];
                }
            }
            __syncwarp(); // the next fragment takes the same memory
        }
    }
}
