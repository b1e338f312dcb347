// What the convolutions on tensor cores share. A tile of an mma is a row of 16 pixels, of which 14
// count; a step of k is the 16 channels under one tap. Pixels lie in shared memory with their
// channels side by side in bf16, zeros around the image; the distance of two pixels is such that
// eight neighbours begin in different banks.

#pragma once

#include "../batch.cuh"
#include "ptx.cuh"

constexpr int kPaddedColumns = 18; // zeros, 14 pixels, and zeros: a row of taps reads 16 + 2
constexpr int kPaddedPixels = (kSide1 + 2) * kPaddedColumns;
constexpr int kStride16 = 24; // elements between pixels of 16 channels
constexpr int kStride32 = 40; // and of 32

typedef unsigned short Bf16; // the bits

// Two numbers rounded to bf16: `low` in the lower half.
__device__ inline unsigned packed(float low, float high)
{
    unsigned bits;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
    return bits;
}

__device__ inline Bf16 rounded(float value)
{
    return (Bf16)packed(value, 0.0f);
}

// ldmatrix.x4.trans: as ldmatrix_4, each tile transposed.
__device__ inline void ldmatrix_4_transposed(unsigned (&tiles)[4], unsigned row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(tiles[0]), "=r"(tiles[1]), "=r"(tiles[2]), "=r"(tiles[3])
                 : "r"(row)
                 : "memory");
}

// The factors b of one tile of 16 x 8 that a lane has of weights[step][result][k] in shared memory,
// results kStride elements apart: `half` 0 the first two, 1 the others.
template <int kResults, int kStride>
__device__ inline unsigned weight_pair(const Bf16 *weights, int step, int tile, int half)
{
    int lane = threadIdx.x % 32;
    const Bf16 *from = weights + (step * kResults + tile * 8 + lane / 4) * kStride;
    return *reinterpret_cast<const unsigned *>(from + lane % 4 * 2 + half * 8);
}
