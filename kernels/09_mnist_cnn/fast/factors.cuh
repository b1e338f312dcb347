// The factors of an mma. With BF16 they are bf16 numbers. Without, a factor is an fp32 number as
// two fp16 halves, high + low: 22 bits and a sign, next to fp32's 24. Three products then make one
// of fp32's: high high + high low + low high, the sums in fp32. So that low halves keep their bits,
// factors are scaled by powers of two, which costs no precision. fp16 ends at 65,504: weights may
// reach 1000, pixels 4000, and gradients 2000 / N.

#pragma once

#include "batch.cuh"
#include "ptx.cuh"

#ifndef BF16
#define BF16 0
#endif

typedef unsigned short Half; // the bits of a bf16 or fp16 number

constexpr int kHalves = BF16 ? 1 : 2;
constexpr float kWeightScale = BF16 ? 1.0f : 64.0f;
constexpr float kPixelScale = BF16 ? 1.0f : 16.0f; // of numbers that come from images

// The scale of gradients, which are means over a batch of N.
__device__ inline float gradient_scale(int N)
{
    float power = 1.0f;
    while (!BF16 && power < 16.0f * N) {
        power *= 2.0f;
    }
    return power;
}

// Two neighbouring factors, `first` in the lower bits: of each half a word.
__device__ inline void split(unsigned (&words)[kHalves], float first, float second)
{
#if BF16
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(words[0]) : "f"(second), "f"(first));
#else
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(words[0]) : "f"(second), "f"(first));
    float high[2];
    asm("{\n"
        ".reg .b16 a, b;\n"
        "mov.b32 {a, b}, %2;\n"
        "cvt.f32.f16 %0, a;\n"
        "cvt.f32.f16 %1, b;\n"
        "}"
        : "=f"(high[0]), "=f"(high[1])
        : "r"(words[0]));
    first -= high[0];
    second -= high[1];
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(words[1]) : "f"(second), "f"(first));
#endif
}

// sum += a b, a tile of 16 x 8 for the warp, the small products first.
__device__ inline void multiply(float (&sum)[4], const unsigned (&a)[kHalves][4],
                                const unsigned (&b)[kHalves][4], int tile)
{
#if BF16
    mma_bf16(sum, a[0], b[0][tile * 2], b[0][tile * 2 + 1]);
#else
    mma_f16(sum, a[1], b[0][tile * 2], b[0][tile * 2 + 1]);
    mma_f16(sum, a[0], b[1][tile * 2], b[1][tile * 2 + 1]);
    mma_f16(sum, a[0], b[0][tile * 2], b[0][tile * 2 + 1]);
#endif
}

// ldmatrix.x4.trans: as ldmatrix_4, each tile transposed.
__device__ inline void ldmatrix_4_transposed(unsigned (&tiles)[4], unsigned row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(tiles[0]), "=r"(tiles[1]), "=r"(tiles[2]), "=r"(tiles[3])
                 : "r"(row)
                 : "memory");
}

// The four tiles of every half. The halves are kPlane elements apart.
template <int kPlane>
__device__ inline void load_tiles(unsigned (&tiles)[kHalves][4], const Half *row)
{
#pragma unroll
    for (int h = 0; h < kHalves; ++h) {
        ldmatrix_4(tiles[h], shared_address(row + h * kPlane));
    }
}

template <int kPlane>
__device__ inline void load_tiles_transposed(unsigned (&tiles)[kHalves][4], const Half *row)
{
#pragma unroll
    for (int h = 0; h < kHalves; ++h) {
        ldmatrix_4_transposed(tiles[h], shared_address(row + h * kPlane));
    }
}

// Pixels of 14 x 14 in shared memory with their channels side by side, zeros around: a row of 16
// pixels, of which 14 count, and its neighbours.
constexpr int kPaddedColumns = 18;
constexpr int kPaddedPixels = (kSide1 + 2) * kPaddedColumns;

// pool1 of an image: padded pixels of 16 channels, zeros around. Where channels 8 part...8 part + 7
// of a pixel are: eight neighbours are in different banks.
constexpr int kPoolPlane = kPaddedPixels * kFilters1;

__device__ inline int pool_place(int pixel, int part)
{
    return pixel * kFilters1 + (part ^ (pixel / 4 & 1)) * 8;
}
