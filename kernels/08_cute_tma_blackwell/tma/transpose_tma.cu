// out = in transposed: `in` is rows x columns, `out` columns x rows, fp32, row-major; rows and
// columns are multiples of four. Both come as tensor maps with boxes of 64 x 32 and a swizzle of
// 128 bytes, or none with SWIZZLE 0.
// Beside transpose_vector of chapter 04: TMA makes the addresses of both matrices, the swizzle and
// the edges; a thread only transposes a patch of 4 x 4 from the tile into itself. The patches of
// eight threads lie on a diagonal, so that they cover all banks on the way out and on the way back.
// Limit: memory bandwidth, at nearly the rate of a copy.
// grid (ceil(rows / 64), ceil(columns / 64)), block (256), dynamic shared 0

#include "ptx.cuh"
#include "tma_store.cuh"

#ifndef SWIZZLE
#define SWIZZLE 128 // bytes, as in both maps
#endif
#ifndef DIAGONAL
#define DIAGONAL 1 // 0: the patches of eight threads lie side by side
#endif

constexpr int kTile = 64;
constexpr int kChunks = 8;                // of four elements, in a row of a box: the swizzle's span
constexpr int kBox = kTile * kChunks * 4; // elements; the tile is two boxes side by side

__device__ int swizzled(int row, int chunk)
{
    return row * kChunks + (SWIZZLE ? chunk ^ row % kChunks : chunk); // in chunks
}

extern "C" __global__ void transpose_tma(const __grid_constant__ TensorMap in,
                                         const __grid_constant__ TensorMap out)
{
    __shared__ __align__(1024) float tile[2 * kBox];
    __shared__ unsigned long long arrived;
    const unsigned barrier = shared_address(&arrived);
    const int first_row = blockIdx.x * kTile, first_column = blockIdx.y * kTile; // in `in`
    if (threadIdx.x == 0) {
        mbarrier_init(barrier, 1);
        mbarriers_are_ready();
        mbarrier_expect(barrier, sizeof(tile));
        for (int half = 0; half < 2; ++half) {
            tma_load(shared_address(tile + half * kBox), &in, first_column + half * 32, first_row,
                     barrier);
        }
    }
    __syncthreads();
    mbarrier_wait(barrier, 0);

    // The patch of four rows and a chunk: rows 4 (8 down_half + down) on, chunk `across` of a box.
    const int across = threadIdx.x % 8, down = threadIdx.x / 8 % 8 ^ (DIAGONAL ? across : 0);
    const int across_half = threadIdx.x / 64 % 2, down_half = threadIdx.x / 128;
    const int row = 4 * (8 * down_half + down);
    const float4 *from = reinterpret_cast<const float4 *>(tile + across_half * kBox);
    float4 patch[4];
    for (int i = 0; i < 4; ++i) {
        patch[i] = from[swizzled(row + i, across)];
    }
    __syncthreads(); // all have read: the tile takes the result
    const float4 &a = patch[0], &b = patch[1], &c = patch[2], &d = patch[3];
    float4 *to = reinterpret_cast<float4 *>(tile + down_half * kBox);
    const int new_row = 4 * (8 * across_half + across);
    to[swizzled(new_row + 0, down)] = make_float4(a.x, b.x, c.x, d.x);
    to[swizzled(new_row + 1, down)] = make_float4(a.y, b.y, c.y, d.y);
    to[swizzled(new_row + 2, down)] = make_float4(a.z, b.z, c.z, d.z);
    to[swizzled(new_row + 3, down)] = make_float4(a.w, b.w, c.w, d.w);

    writes_are_ready();
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int half = 0; half < 2; ++half) {
            tma_store(&out, first_row + half * 32, first_column,
                      shared_address(tile + half * kBox));
        }
        tma_commit();
        tma_wait_read<0>(); // the block's memory is needed until then
    }
}
