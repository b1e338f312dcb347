// out[2 i] and out[2 i + 1] are two normal numbers, made of two of 32 bits: with u and v the numbers
// above 0 and up to 1 that uniform() makes of first[i] and second[i], they are the radius
// sqrt(-2 ln u) times the sine and times the cosine of the angle 2 pi v. For n pairs.
// grid ceil(n / 128), block 128, dynamic shared 0

#include "philox.cuh" // uniform(bits)

extern "C" __global__ void box_muller(const unsigned *first, const unsigned *second, float *out,
                                      int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    // TODO: the radius once, for both
    // SOLUTION
    if (i < n) {
        const float radius = sqrtf(-2.0f * logf(uniform(first[i])));
        float sine, cosine;
        sincospif(2.0f * uniform(second[i]), &sine, &cosine);
        out[2 * i] = radius * sine;
        out[2 * i + 1] = radius * cosine;
    }
    // END
}
