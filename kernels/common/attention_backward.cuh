// The size of a tile in the three kernels of attention's backward pass, and transposed tiles on
// their way to shared memory. sm_90 and later.

#pragma once

constexpr int BM = 80; // queries of a tile

// stmatrix.x4.trans: four 8 x 8 tiles of 16-bit elements, transposed. Lane l gives the address of
// row l % 8 of tile l / 8, 16 bytes. It holds of each tile the elements (2 (l % 4), l / 4) and the
// one below.
__device__ inline void stmatrix_4_transposed(unsigned row, const unsigned (&tiles)[4])
{
    asm volatile(
        "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row),
        "r"(tiles[0]), "r"(tiles[1]), "r"(tiles[2]), "r"(tiles[3])
        : "memory");
}
