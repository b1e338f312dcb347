// y[i] = x[i] / keep with a chance of `keep` out of 1, otherwise 0, for n fp32 elements. x and y
// begin at multiples of 16 bytes; y may be x. The same launch on a gradient is the way back.
// The idea: a group of four elements takes the four numbers of one Philox block. Which one is that
// of a loop of `streams` threads with cuRAND states, as PyTorch's dropout runs it: group g is turn
// g / streams of thread g % streams.
// Limit: memory bandwidth. Philox is about a hundred integer instructions for 32 bytes.
// grid (ceil(n / 1024)), block (256), dynamic shared 0

#include "philox.cuh"
#include "row_values.cuh"

extern "C" __global__ void philox_dropout(const float *x, float *y, float keep,
                                          unsigned long long seed, unsigned long long offset,
                                          int streams, int n)
{
    int group = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * group >= n) {
        return;
    }
    uint4 bits = philox(seed, group % streams, offset / 4 + group / streams);
    float factors[4], values[4];
    dropout_factors(factors, bits, keep);
    if (4 * group + 4 <= n) {
        unpack(values, *reinterpret_cast<const uint4 *>(x + 4 * group));
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            values[j] *= factors[j];
        }
        *reinterpret_cast<uint4 *>(y + 4 * group) = packed(values);
        return;
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
        if (4 * group + j < n) {
            y[4 * group + j] = x[4 * group + j] * factors[j];
        }
    }
}
