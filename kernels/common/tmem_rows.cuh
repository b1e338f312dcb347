// Part of a row of D on its way from tensor memory to global memory.

#pragma once

#include "tcgen05.cuh"

// cvt.rn.bf16x2.f32: two fp32 numbers as bf16, `low` in the lower half.
__device__ inline unsigned bf16_pair(unsigned low, unsigned high)
{
    unsigned pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;"
        : "=r"(pair)
        : "f"(__uint_as_float(high)), "f"(__uint_as_float(low)));
    return pair;
}

// Fetch `width` columns of the thread's lane, from tensor memory address `from` on, and store those
// among columns first .. first + width - 1 of its row that exist, as bf16. `width` is a multiple of
// 16 and `columns` one of 8. All 32 threads of the warp come by, those without a row too.
__device__ inline void store_row(unsigned short *row, bool row_exists, unsigned from, int first,
                                 int width, int columns)
{
    for (int column = 0; column < width; column += 16) {
        unsigned value[16];
        tmem_load_16(value, from + column);
        tmem_wait_load(value);
        for (int i = 0; i < 16; i += 8) {
            if (row_exists && first + column + i < columns) {
                *reinterpret_cast<uint4 *>(row + first + column + i) = make_uint4(
                    bf16_pair(value[i], value[i + 1]), bf16_pair(value[i + 2], value[i + 3]),
                    bf16_pair(value[i + 4], value[i + 5]), bf16_pair(value[i + 6], value[i + 7]));
            }
        }
    }
}
