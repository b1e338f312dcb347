// y[i] = x[i] + dropout(silu(scale * x[i] + shift)), for n fp32 elements, n a multiple of four; x
// and y begin at multiples of 16 bytes.
// Adds to chain_fused.cu: four elements a thread, in one load and one store of 16 bytes. One of the
// divisions becomes a multiplication and the other the fast one, which saves instructions.
// Limit: memory bandwidth.
// grid (ceil(n / 1024)), block (256), dynamic shared 0

#include "dropout.cuh"

__device__ float chain(float x, float scale, float shift, bool keep_it, float inverse_keep)
{
    float value = scale * x + shift;
    value = __fdividef(value, 1.0f + __expf(-value));
    return keep_it ? x + value * inverse_keep : x;
}

extern "C" __global__ void chain_fused_vector(const float *x, float *y, float scale, float shift,
                                              unsigned seed, float keep, int n)
{
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) {
        float inverse = 1.0f / keep;
        float4 in = *reinterpret_cast<const float4 *>(&x[i]);
        float4 out;
        out.x = chain(in.x, scale, shift, kept(i + 0, seed, keep), inverse);
        out.y = chain(in.y, scale, shift, kept(i + 1, seed, keep), inverse);
        out.z = chain(in.z, scale, shift, kept(i + 2, seed, keep), inverse);
        out.w = chain(in.w, scale, shift, kept(i + 3, seed, keep), inverse);
        *reinterpret_cast<float4 *>(&y[i]) = out;
    }
}
