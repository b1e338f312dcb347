// NVFP4, as quantise_nvfp4.cu of chapter 07: codes of E2M1, two a byte, for a row-major fp32 matrix
// x of M x K, a scale in E4M3 for each 16 neighbours of a row, in tiles as scale_tiles.cuh says,
// and one tensor_scale for the matrix. K is a multiple of 16, x begins at a multiple of 16 bytes.
// Adds to it an instruction of Blackwell's that rounds two numbers to E2M1.
// Limit: memory bandwidth. Four bytes are read, and about half a byte is written.
// grid (ceil(M * K / 1024)), block (256), dynamic shared 0

#include "scale_tiles.cuh"
#include "scaled_codes.cuh"

constexpr int kBlock = 16; // numbers that share a scale
constexpr float kLargest = 6.0f;

extern "C" __global__ void quantise_nvfp4_cvt(const float4 *x, unsigned short *codes,
                                              unsigned char *scales, float tensor_scale, int M,
                                              int K)
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
    unsigned char scale = e4m3_scale(largest / kLargest / tensor_scale, value);
    float step = value * tensor_scale;
    float inverse = step > 0.0f ? 1.0f / step : 0.0f; // a block of zeros, or nearly so
    unsigned low = e2m1_pair(v.x * inverse, v.y * inverse);
    codes[four] = low | e2m1_pair(v.z * inverse, v.w * inverse) << 8;
    int row = int(4 * four / K), column = int(4 * four % K);
    if (column % kBlock == 0) {
        scales[scale_place(row, column / kBlock, K / kBlock)] = scale;
    }
}
