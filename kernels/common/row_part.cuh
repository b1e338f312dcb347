// A thread's part of a row of floats, in registers: kGroups groups of four neighbours, loaded and
// stored as one. The block's threads take neighbouring groups, from a multiple of 16 bytes on.

#pragma once

// st: four floats to a global address that is a multiple of 16. (An assignment of a float4 may
// become four stores.)
__device__ inline void store_global_4(float *to, const float (&four)[4])
{
    asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to), "f"(four[0]), "f"(four[1]),
                 "f"(four[2]), "f"(four[3])
                 : "memory");
}

// How many floats past a multiple of 16 bytes an address is: 0 to 3.
__device__ inline int past_aligned(const float *address)
{
    return static_cast<int>(reinterpret_cast<unsigned long long>(address) / sizeof(float) % 4);
}

// The first element of group k of the thread.
template <int kThreads>
__device__ inline int first_of_group(int k)
{
    return 4 * (k * kThreads + threadIdx.x);
}

// Fill the part from `from`, a multiple of 16 bytes, of which the elements begin <= i < end are to
// be read. `beyond` replaces the others.
template <int kThreads, int kGroups>
__device__ inline void load_part(float (&part)[kGroups][4], const float *from, int begin, int end,
                                 float beyond)
{
#pragma unroll
    for (int k = 0; k < kGroups; ++k) {
        int i = first_of_group<kThreads>(k);
        if (begin <= i && i + 4 <= end) {
            float4 four = *reinterpret_cast<const float4 *>(from + i);
            part[k][0] = four.x;
            part[k][1] = four.y;
            part[k][2] = four.z;
            part[k][3] = four.w;
            continue;
        }
#pragma unroll
        for (int j = 0; j < 4; ++j) { // an end of the row, or past it
            part[k][j] = begin <= i + j && i + j < end ? from[i + j] : beyond;
        }
    }
}

// Store the elements begin <= i < end of the part, the counterpart of load_part.
template <int kThreads, int kGroups>
__device__ inline void store_part(float *to, const float (&part)[kGroups][4], int begin, int end)
{
#pragma unroll
    for (int k = 0; k < kGroups; ++k) {
        int i = first_of_group<kThreads>(k);
        if (begin <= i && i + 4 <= end) {
            store_global_4(to + i, part[k]);
            continue;
        }
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            if (begin <= i + j && i + j < end) {
                to[i + j] = part[k][j];
            }
        }
    }
}
