// A thread's part of a row of floats, in registers: kGroups groups of four. The block's threads take
// neighbouring groups, or single elements where a row cannot be read by fours.

#pragma once

// The place in the row of element j of group k.
template <int kThreads, bool kFours>
__device__ inline int place_in_row(int k, int j)
{
    return kFours ? 4 * (k * kThreads + threadIdx.x) + j : (4 * k + j) * kThreads + threadIdx.x;
}

// What lies at an address: by a load that asks the caches not to keep a number that is read once.
template <bool kOnce, typename T>
__device__ inline T load_number(const T *from)
{
    if constexpr (kOnce) {
        return __ldcs(from); // global memory only
    } else {
        return *from;
    }
}

// Fill the part from a row of `count` elements; what lies past its end is `beyond`. `fours`: the row
// begins at a multiple of 16 bytes, and `count` is a multiple of 4.
template <int kThreads, bool kOnce = true, int kGroups>
__device__ inline void load_part(float (&part)[kGroups][4], const float *row, int count, bool fours,
                                 float beyond)
{
    if (fours) {
#pragma unroll
        for (int k = 0; k < kGroups; ++k) {
            int i = place_in_row<kThreads, true>(k, 0);
            float4 four = make_float4(beyond, beyond, beyond, beyond);
            if (i < count) {
                four = load_number<kOnce>(reinterpret_cast<const float4 *>(row + i));
            }
            part[k][0] = four.x;
            part[k][1] = four.y;
            part[k][2] = four.z;
            part[k][3] = four.w;
        }
        return;
    }
#pragma unroll
    for (int k = 0; k < kGroups; ++k) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            int i = place_in_row<kThreads, false>(k, j);
            part[k][j] = i < count ? load_number<kOnce>(row + i) : beyond;
        }
    }
}

// Store the part, as far as the row has elements; the counterpart of load_part.
template <int kThreads, int kGroups>
__device__ inline void store_part(float *row, const float (&part)[kGroups][4], int count,
                                  bool fours)
{
    if (fours) {
#pragma unroll
        for (int k = 0; k < kGroups; ++k) {
            int i = place_in_row<kThreads, true>(k, 0);
            if (i < count) {
                __stcs(reinterpret_cast<float4 *>(row + i),
                       make_float4(part[k][0], part[k][1], part[k][2], part[k][3]));
            }
        }
        return;
    }
#pragma unroll
    for (int k = 0; k < kGroups; ++k) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            int i = place_in_row<kThreads, false>(k, j);
            if (i < count) {
                __stcs(row + i, part[k][j]);
            }
        }
    }
}
