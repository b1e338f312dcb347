// stmatrix: tiles from the registers of a warp to shared memory. sm_90 and later.

#pragma once

// stmatrix.x4: four 8 x 8 tiles of 16-bit elements, the way back of ldmatrix_4. Lane l gives the
// address of row l % 8 of tile l / 8, 16 bytes. It holds of each tile the elements (l / 4, 2 (l %
// 4)) and the one after.
__device__ inline void stmatrix_4(unsigned row, const unsigned (&tiles)[4])
{
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row),
                 "r"(tiles[0]), "r"(tiles[1]), "r"(tiles[2]), "r"(tiles[3])
                 : "memory");
}
