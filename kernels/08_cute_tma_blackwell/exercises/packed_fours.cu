// NVFP4 for `blocks` blocks of 16 numbers of x: scales[block] is the code of E4M3 next to its
// largest magnitude / 6 / tensor_scale. With step = the number that this code stands for *
// tensor_scale, and inverse = 1 / step (0 where the step is 0), codes has E2M1 of x * inverse, two
// codes a byte, the first in the lower half: eight bytes a block, as two words. All in fp32. A
// thread has a block.
// grid (ceil(blocks / 128)), block (128), dynamic shared 0

#include "scaled_codes.cuh"

extern "C" __global__ void packed_fours(const float *x, unsigned *codes, unsigned char *scales,
                                        float tensor_scale, int blocks)
{
    int block = blockIdx.x * blockDim.x + threadIdx.x;
    if (block >= blocks) {
        return;
    }
    const float *from = x + (size_t)block * 16;
    // TODO: the scale: e4m3_scale(x, value) returns its code, and puts the number that it stands for
    // into the float `value`. Then eight pairs: e2m1_pair(low, high) returns a byte, and four make a
    // word
    // SOLUTION
    float largest = 0.0f;
    for (int i = 0; i < 16; ++i) {
        largest = fmaxf(largest, fabsf(from[i]));
    }
    float value;
    scales[block] = e4m3_scale(largest / 6.0f / tensor_scale, value);
    float step = value * tensor_scale;
    float inverse = step > 0.0f ? 1.0f / step : 0.0f;
    for (int word = 0; word < 2; ++word) {
        unsigned packed = 0;
        for (int i = 0; i < 8; i += 2) {
            const float *pair = from + 8 * word + i;
            packed |= e2m1_pair(pair[0] * inverse, pair[1] * inverse) << 4 * i;
        }
        codes[(size_t)block * 2 + word] = packed;
    }
    // END
}
