// y[r] = the product of row r of W and x in fp16, for W in 4 bits: W[r, k] = scale * (nibble - 8)
// with a nibble for each k, eight to a word, the first in the lowest bits, and an fp16 scale for
// each 32 neighbours of a row: scales is M x K / 32. K is a multiple of 32. Sums in fp32. A warp a
// row.
// grid (ceil(M / 8)), block (256), dynamic shared 0

#include <cuda_fp16.h>

constexpr unsigned kWholeWarp = 0xffffffff;
constexpr int kGroup = 32; // columns that share a scale

// Two halves from the bits of a word.
__device__ inline __half2 as_halves(unsigned bits)
{
    return *reinterpret_cast<__half2 *>(&bits);
}

extern "C" __global__ void nibble_product(const unsigned *words, const __half *scales,
                                          const __half *x, float *y, int M, int K)
{
    int lane = threadIdx.x % 32;
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= M) {
        return; // the whole warp
    }
    words += (long long)row * (K / 8);
    scales += (long long)row * (K / kGroup);
    float sum = 0.0f;
    for (int word = lane; word < K / 8; word += 32) {
        const __half *of_x = x + 8 * word;
        float part = 0.0f; // of the word's eight products, without the scale
        // TODO: the products, without converting an integer: an fp16 number with the bits
        // 0x6400 + q is 1024 + q, for q from 0 to 1023
        // SOLUTION
        for (int i = 0; i < 4; ++i) {
            unsigned nibbles = words[word] >> 4 * i & 0x000f000f; // those of i and i + 4
            float2 two =
                __half22float2(__hsub2(as_halves(nibbles | 0x64006400), as_halves(0x64086408)));
            part += two.x * __half2float(of_x[i]) + two.y * __half2float(of_x[i + 4]);
        }
        // END
        sum += part * __half2float(scales[word / (kGroup / 8)]);
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(kWholeWarp, sum, distance);
    }
    if (lane == 0) {
        y[row] = sum;
    }
}
