// out[lane] = the four registers that ldmatrix gives a lane: of row lane / 4 of x, 8 x 64 fp16
// elements, the two elements 2 (lane % 4) and the next, in each of the row's first four chunks.
// The swizzle of hgemm_swizzle, small enough to watch. With -D SWIZZLED=0 chunks stay where they
// are, and the eight rows of each chunk collide in four banks.
// Limit: one warp, and one tile.
// grid 1, block (32), dynamic shared 0

#include "ptx.cuh"

#ifndef SWIZZLED
#define SWIZZLED 1
#endif

constexpr int kRows = 8;
constexpr int kChunks = 8; // of a row, 16 bytes each

// Which of the tile's chunks is chunk `chunk` of row `row`.
__device__ inline int place_of(int row, int chunk)
{
    return row * kChunks + (SWIZZLED ? chunk ^ row : chunk);
}

extern "C" __global__ void ldmatrix_tiles(const uint4 *x, uint4 *out)
{
    __shared__ __align__(128) uint4 tile[kRows * kChunks];
    const int lane = threadIdx.x;
    for (int row = lane / kChunks; row < kRows; row += 4) {
        tile[place_of(row, lane % kChunks)] = x[row * kChunks + lane % kChunks];
    }
    __syncwarp(); // the tile is complete
    unsigned held[4];
    ldmatrix_4(held, shared_address(&tile[place_of(lane % 8, lane / 8)]));
    out[lane] = make_uint4(held[0], held[1], held[2], held[3]);
}
