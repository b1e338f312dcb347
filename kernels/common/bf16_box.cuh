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

// A warp writes 16 rows of 64 results, 128 bytes, swizzled as TMA wants it; `sum` are 32 of the
// thread's sums of wgmma.
__device__ inline void store_bf16_box(unsigned box, const float *sum)
{
    const int lane = threadIdx.x % 32, row = lane % 16;
#pragma unroll
    for (int j = 0; j < 4; ++j) { // 16 columns: two chunks of 16 bytes, and twice 8 rows
        unsigned tiles[4];
#pragma unroll
        for (int n = 0; n < 4; ++n) {
            tiles[n] = packed_bf16(sum[j * 8 + n * 2], sum[j * 8 + n * 2 + 1]);
        }
        const int chunk = j * 2 + lane / 16;
        stmatrix_4(box + row * 128 + (chunk ^ row % 8) * 16, tiles);
    }
}
