// Loads and stores of a thread's part of a row, as load_values and store_values, with other hints:
// L2 is to evict the lines that are read last, after those that are written.

#pragma once

#include "row_values.cuh"

// Store the part, as far as the row goes, with no hint.
template <int kThreads, typename T, int kGroups>
__device__ inline void keep_values(T *row, const float (&part)[kGroups][kWidth<T>], int columns)
{
#pragma unroll
    for (int k = 0; k < kGroups; ++k) {
        const int column = column_of_group<T, kThreads>(k);
        if (columns % kWidth<T> == 0 && column < columns) {
            *reinterpret_cast<uint4 *>(row + column) = packed(part[k]);
        } else {
            store_row_16_bytes(row, column, columns, packed(part[k]));
        }
    }
}

// The 16 bytes of a row that begin at `column`, as by load_row_16_bytes, with a hint for L1 and L2:
// evict these lines after all others.
template <typename T>
__device__ inline uint4 load_row_kept(const T *row, int column, int columns)
{
    if (columns % kWidth<T> != 0 || column >= columns) {
        return load_row_16_bytes(row, column, columns, true);
    }
    uint4 chunk;
    unsigned long long policy;
    asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    asm volatile("ld.global.L1::evict_last.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=r"(chunk.x), "=r"(chunk.y), "=r"(chunk.z), "=r"(chunk.w)
                 : "l"(row + column), "l"(policy)
                 : "memory");
    return chunk;
}

// Fill the part from a row whose lines are to stay. Past the row's end it is 0.
template <int kThreads, typename T, int kGroups>
__device__ inline void load_values_kept(float (&part)[kGroups][kWidth<T>], const T *row,
                                        int columns)
{
#pragma unroll
    for (int k = 0; k < kGroups; ++k) {
        unpack(part[k], load_row_kept(row, column_of_group<T, kThreads>(k), columns));
    }
}
