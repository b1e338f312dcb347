// From counts (chunks x EXPERTS): before (chunks x EXPERTS) is how many assignments the expert has
// in earlier chunks. offsets[e] is the first row of expert e in the permuted array, and
// offsets[EXPERTS] the number of rows. A line of the table is a row tile, at most ROWS rows of one
// expert: the expert, the tile's first row, the end of the expert's rows. *tiles is how many lines
// there are.
// The idea: scan_warps over experts twice, once over rows and once over tiles. An expert without
// rows has no tile.
// Limit: a single block, and a thread reads its expert's counts one after the other.
// grid (1), block (256), dynamic shared 0

#include "experts.cuh"
#include "scan.cuh"

#ifndef ROWS
#define ROWS 128 // of a tile
#endif

static_assert(EXPERTS <= 256, "a thread for each expert");

// The sum of the values of threads 0 to this one, of 256 threads.
__device__ inline int block_scan(int value)
{
    __shared__ int of_warp[8];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int sum = warp_scan(value);
    if (lane == 31) {
        of_warp[warp] = sum;
    }
    __syncthreads();
    for (int before = 0; before < warp; ++before) {
        sum += of_warp[before];
    }
    __syncthreads(); // of_warp may be written again
    return sum;
}

extern "C" __global__ void scan_experts(const int *counts, int *before, int *offsets, int4 *table,
                                        int *tiles, int chunks)
{
    const int expert = threadIdx.x;
    int rows = 0;
    if (expert < EXPERTS) {
#pragma unroll 8
        for (int chunk = 0; chunk < chunks; ++chunk) {
            const size_t at = (size_t)chunk * EXPERTS + expert;
            before[at] = rows;
            rows += counts[at];
        }
    }
    const int end = block_scan(rows), begin = end - rows;
    const int own_tiles = (rows + ROWS - 1) / ROWS;
    const int last_tile = block_scan(own_tiles);
    if (expert < EXPERTS) {
        offsets[expert + 1] = end;
    }
    for (int i = 0; i < own_tiles; ++i) {
        table[last_tile - own_tiles + i] = make_int4(expert, begin + i * ROWS, end, 0);
    }
    if (expert == 0) {
        offsets[0] = 0;
    }
    if (expert == EXPERTS - 1) {
        *tiles = last_tile;
    }
}
