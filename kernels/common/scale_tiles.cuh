// The scales of blocks in memory, for the tensor cores of Blackwell: in tiles of 128 rows
// by 4 blocks, 512 bytes each, one tile after the other along a row of tiles. In a tile the scales
// of rows r, r + 32, r + 64 and r + 96 are neighbours, four bytes of each. A layout of its own lets
// one copy bring a tile into tensor memory. Source: cuBLAS, "1D Block Scaling Factors Layout".

#pragma once

constexpr int kTileRows = 128, kTileBlocks = 4;

// The index of the scale of block `block` of row `row`, in rows of `blocks` blocks.
__device__ inline long long scale_place(int row, int block, int blocks)
{
    int tiles = (blocks + kTileBlocks - 1) / kTileBlocks; // along a row
    long long tile = (long long)(row / kTileRows) * tiles + block / kTileBlocks;
    int inside = row % 32 * 16 + row % kTileRows / 32 * 4 + block % kTileBlocks;
    return tile * (kTileRows * kTileBlocks) + inside;
}
