// Sums of wgmma on their way to bf16 in shared memory, where TMA takes them from.

#pragma once

#include <cuda_bf16.h>
#include "stmatrix.cuh"

// Two floats as bf16 in one register, `low` in the lower half.
__device__ inline unsigned packed_bf16(float low, float high)
{
    unsigned bits;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
    return bits;
}

// 32 of the thread's sums of wgmma, as bf16: two neighbours in each register.
__device__ inline void pack_bf16(unsigned (&packed)[16], const float *sum)
{
#pragma unroll
    for (int i = 0; i < 16; ++i) {
        packed[i] = packed_bf16(sum[i * 2], sum[i * 2 + 1]);
    }
}

// A warp writes 16 rows of 64 results of pack_bf16, 128 bytes, swizzled as TMA wants it.
__device__ inline void store_packed_box(unsigned box, const unsigned (&packed)[16])
{
    const int lane = threadIdx.x % 32, row = lane % 16;
#pragma unroll
    for (int j = 0; j < 4; ++j) { // 16 columns: two chunks of 16 bytes, and twice 8 rows
        const unsigned tiles[] = {packed[j * 4], packed[j * 4 + 1], packed[j * 4 + 2],
                                  packed[j * 4 + 3]};
        const int chunk = j * 2 + lane / 16;
        stmatrix_4(box + row * 128 + (chunk ^ row % 8) * 16, tiles);
    }
}

// Both at once.
__device__ inline void store_bf16_box(unsigned box, const float *sum)
{
    unsigned packed[16];
    pack_bf16(packed, sum);
    store_packed_box(box, packed);
}
