// NVFP4: codes of E2M1, two a byte, the first in the lower half, for a row-major fp32 matrix x of
// M x K, and for each 16 neighbours of a row a scale in E4M3, in tiles as scale_tiles.cuh says.
// x is about tensor_scale * scale * value of the code, with one tensor_scale for the matrix: its
// largest magnitude / (448 * 6). K is a multiple of 16, x begins at a multiple of 16 bytes.
// Adds to quantise_mxfp8.cu: a scale that is itself rounded, so the codes are made with the scale
// that is stored. Hopper has no instruction for E2M1: seven comparisons find a code.
// Limit: memory bandwidth. Four bytes are read, and about half a byte is written.
// grid (ceil(M * K / 1024)), block (256), dynamic shared 0

#include "scale_tiles.cuh"

constexpr int kBlock = 16; // numbers that share a scale
constexpr float kLargest = 6.0f;

// The code of E2M1 next to x, of two equally near ones the even one: 0, 0.5, 1, 1.5, 2, 3, 4, 6.
__device__ inline unsigned to_e2m1(float x)
{
    float a = fabsf(x);
    unsigned code = (a > 0.25f) + (a >= 0.75f) + (a > 1.25f) + (a >= 1.75f) + (a > 2.5f) +
                    (a >= 3.5f) + (a > 5.0f);
    return code | __float_as_uint(x) >> 31 << 3;
}

// The code of E4M3 next to x >= 0, and in `value` the number that it stands for.
__device__ inline unsigned char to_e4m3(float x, float &value)
{
    unsigned short code;
    unsigned pair; // two halves
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(code) : "f"(0.0f), "f"(x));
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pair) : "h"(code));
    asm("{.reg .b16 low, high; mov.b32 {low, high}, %1; cvt.f32.f16 %0, low;}"
        : "=f"(value)
        : "r"(pair));
    return code;
}

extern "C" __global__ void quantise_nvfp4(const float4 *x, unsigned short *codes,
                                          unsigned char *scales, float tensor_scale, int M, int K)
{
    long long four = (long long)blockIdx.x * blockDim.x + threadIdx.x; // which four of the matrix
    bool exists = 4 * four < (long long)M * K;
    float4 v = exists ? x[four] : float4{};
    float largest = fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w)));
    for (int distance = 1; distance < kBlock / 4; distance *= 2) {
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, distance));
    }
    if (!exists) {
        return;
    }
    float value;
    unsigned char scale = to_e4m3(largest / kLargest / tensor_scale, value);
    float step = value * tensor_scale;
    float inverse = step > 0.0f ? 1.0f / step : 0.0f; // a block of zeros, or nearly so
    codes[four] = to_e2m1(v.x * inverse) | to_e2m1(v.y * inverse) << 4 |
                  to_e2m1(v.z * inverse) << 8 | to_e2m1(v.w * inverse) << 12;
    int row = int(4 * four / K), column = int(4 * four % K);
    if (column % kBlock == 0) {
        scales[scale_place(row, column / kBlock, K / kBlock)] = scale;
    }
}
