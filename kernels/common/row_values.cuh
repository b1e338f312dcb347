// A thread's part of a row of floats or of bf16, in registers as floats: kGroups groups of 16 bytes
// in memory, which the block's threads take side by side. Rows that are not a multiple of 16 bytes
// are read and written one element at a time. One-dimensional blocks of whole warps.

#pragma once

#include <cuda_bf16.h>

#include "reduce.cuh"
#include "row.cuh"

// How many elements 16 bytes are.
template <typename T>
constexpr int kWidth = 16 / sizeof(T);

// The numbers in 16 bytes.
__device__ inline void unpack(float (&values)[4], uint4 chunk)
{
    values[0] = __uint_as_float(chunk.x);
    values[1] = __uint_as_float(chunk.y);
    values[2] = __uint_as_float(chunk.z);
    values[3] = __uint_as_float(chunk.w);
}

// The same for bf16, which is the upper half of a float.
__device__ inline void unpack(float (&values)[8], uint4 chunk)
{
    const unsigned pairs[4] = {chunk.x, chunk.y, chunk.z, chunk.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        values[2 * i] = __uint_as_float(pairs[i] << 16);
        values[2 * i + 1] = __uint_as_float(pairs[i] & 0xffff0000);
    }
}

// The counterpart of unpack. bf16 is rounded to the nearest.
__device__ inline uint4 packed(const float (&values)[4])
{
    return make_uint4(__float_as_uint(values[0]), __float_as_uint(values[1]),
                      __float_as_uint(values[2]), __float_as_uint(values[3]));
}

__device__ inline uint4 packed(const float (&values)[8])
{
    unsigned pairs[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        __nv_bfloat162 pair = __floats2bfloat162_rn(values[2 * i], values[2 * i + 1]);
        pairs[i] = *reinterpret_cast<unsigned *>(&pair);
    }
    return make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
}

// Store the 16 bytes of a row of `columns` elements that begin at `column`, as far as they exist,
// the counterpart of load_row_16_bytes. A hint for the caches: they are not read soon.
template <typename T>
__device__ inline void store_row_16_bytes(T *row, int column, int columns, uint4 chunk)
{
    if (column >= columns) {
        return;
    }
    if (columns % kWidth<T> == 0) { // then every row begins at a multiple of 16 bytes
        __stcs(reinterpret_cast<uint4 *>(row + column), chunk);
        return;
    }
    const T *elements = reinterpret_cast<const T *>(&chunk);
#pragma unroll
    for (int i = 0; i < kWidth<T>; ++i) {
        if (column + i < columns) {
            row[column + i] = elements[i];
        }
    }
}

// The first column of group k of the thread.
template <typename T, int kThreads>
__device__ inline int column_of_group(int k)
{
    return kWidth<T> * (k * kThreads + threadIdx.x);
}

// Fill the part from a row, with 0 past its end.
template <int kThreads, typename T, int kGroups>
__device__ inline void load_values(float (&part)[kGroups][kWidth<T>], const T *row, int columns)
{
#pragma unroll
    for (int k = 0; k < kGroups; ++k) {
        unpack(part[k], load_row_16_bytes(row, column_of_group<T, kThreads>(k), columns, true));
    }
}

// Store the part, as far as the row goes.
template <int kThreads, typename T, int kGroups>
__device__ inline void store_values(T *row, const float (&part)[kGroups][kWidth<T>], int columns)
{
#pragma unroll
    for (int k = 0; k < kGroups; ++k) {
        store_row_16_bytes(row, column_of_group<T, kThreads>(k), columns, packed(part[k]));
    }
}

// The sum over the block's kThreads threads, in each of them, by way of `of_warp`, which is free
// again once the block has met at another barrier. All threads call it.
template <int kThreads>
__device__ inline float block_total(float value, float (&of_warp)[kThreads / kWarpSize])
{
    constexpr int kWarps = kThreads / kWarpSize;
    int lane = threadIdx.x % kWarpSize;
    value = warp_sum(value);
    if (lane == 0) {
        of_warp[threadIdx.x / kWarpSize] = value;
    }
    __syncthreads(); // every warp's sum is there
    return warp_sum(lane < kWarps ? of_warp[lane] : 0.0f);
}
