// MXFP4: for each 32 neighbours of x one scale, 2^(scales[block] - 127), the least power of two
// with which none of them is above 6 * scale (127 powers down at the most: a block of zeros has
// code 0). codes holds E2M1 of x / scale, eight to a word, the first in the lowest bits: bits 0 to 2
// of a code count 0, 0.5, 1, 1.5, 2, 3, 4, 6, bit 3 is the sign of x. To the nearest, of two equally
// near ones the even code. A warp a block.
// grid (ceil(blocks / 8)), block (256), dynamic shared 0

constexpr unsigned kWholeWarp = 0xffffffff;

extern "C" __global__ void mxfp4_blocks(const float *x, unsigned *codes, unsigned char *scales,
                                        int blocks)
{
    int lane = threadIdx.x % 32;
    int block = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (block >= blocks) {
        return; // the whole warp
    }
    float own = x[(long long)block * 32 + lane];
    // TODO: the scale of the warp, the code of each lane, and of eight lanes a word
    // SOLUTION
    float largest = fabsf(own);
    for (int distance = 16; distance > 0; distance /= 2) {
        largest = fmaxf(largest, __shfl_xor_sync(kWholeWarp, largest, distance));
    }
    unsigned bits = __float_as_uint(largest); // 6 = 1.5 * 2^2
    int scale = int(bits >> 23) - 2 + ((bits & 0x007fffff) > 0x00400000);
    scale = max(scale, 0);
    float steps = fabsf(own) * __uint_as_float((254 - scale) << 23); // times 2^(127 - scale)
    unsigned code = (steps > 0.25f) + (steps >= 0.75f) + (steps > 1.25f) + (steps >= 1.75f) +
                    (steps > 2.5f) + (steps >= 3.5f) + (steps > 5.0f);
    code |= __float_as_uint(own) >> 31 << 3;
    unsigned word = code << 4 * (lane % 8);
    for (int distance = 4; distance > 0; distance /= 2) {
        word |= __shfl_xor_sync(kWholeWarp, word, distance);
    }
    if (lane % 8 == 0) {
        codes[(long long)block * 4 + lane / 8] = word;
    }
    if (lane == 0) {
        scales[block] = scale;
    }
    // END
}
