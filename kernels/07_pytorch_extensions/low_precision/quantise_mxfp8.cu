// MXFP8: codes of E4M3 for a row-major fp32 matrix x of M x K, and for each 32 neighbours of a row
// one scale, a power of two stored as its exponent + 127 (UE8M0), in tiles as scale_tiles.cuh says.
// x is about scale * value of the code. K is a multiple of 32, x begins at a multiple of 16 bytes,
// and its numbers are finite. The scale is the least with which the largest of 32 fits below 448.
// Eight lanes share a block, four numbers each: its largest takes three shuffles.
// Limit: memory bandwidth. Four bytes are read, and a little more than one is written.
// grid (ceil(M * K / 1024)), block (256), dynamic shared 0

#include "scale_tiles.cuh"

constexpr int kBlock = 32;  // numbers that share a scale
constexpr int kLargest = 8; // 448 = 1.75 * 2^8
constexpr unsigned kFraction = 0x007fffff, kThreeQuarters = 0x00600000;

// Two numbers as codes of E4M3, the first in the lower byte: to the nearest, no further than 448.
__device__ inline unsigned short to_e4m3(float first, float second)
{
    unsigned short codes;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(second), "f"(first));
    return codes;
}

extern "C" __global__ void quantise_mxfp8(const float4 *x, unsigned *codes, unsigned char *scales,
                                          int M, int K)
{
    long long four = (long long)blockIdx.x * blockDim.x + threadIdx.x; // which four of the matrix
    bool exists = 4 * four < (long long)M * K;
    float4 v = exists ? x[four] : float4{};
    float largest = fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w)));
    for (int distance = 1; distance < kBlock / 4; distance *= 2) {
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, distance));
    }
    unsigned bits = __float_as_uint(largest); // an exponent + 127 above 23 bits of fraction
    int scale = (bits >> 23) - kLargest + ((bits & kFraction) > kThreeQuarters);
    scale = max(scale, 0);
    float inverse = __uint_as_float((254 - scale) << 23); // 2^(127 - scale), exactly
    if (!exists) {
        return;
    }
    codes[four] = to_e4m3(v.x * inverse, v.y * inverse) |
                  unsigned(to_e4m3(v.z * inverse, v.w * inverse)) << 16;
    int row = int(4 * four / K), column = int(4 * four % K);
    if (column % kBlock == 0) {
        scales[scale_place(row, column / kBlock, K / kBlock)] = scale;
    }
}
