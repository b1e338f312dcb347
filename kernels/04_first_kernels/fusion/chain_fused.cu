// y[i] = x[i] + dropout(silu(scale * x[i] + shift)), for n fp32 elements.
// Adds to chain_affine.cu, chain_silu.cu, chain_dropout.cu and chain_residual.cu: all four links in
// one kernel. What a link hands to the next stays in a register, so x is read once and y written
// once: 8 bytes for each element in place of 36.
// Limit: bytes in flight, as in copy.cu: one element a thread.
// grid (ceil(n / 256)), block (256), dynamic shared 0

#include "dropout.cuh"

extern "C" __global__ void chain_fused(const float *x, float *y, float scale, float shift,
                                       unsigned seed, float keep, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float value = scale * x[i] + shift;
        value = value / (1.0f + __expf(-value));
        value = kept(i, seed, keep) ? value / keep : 0.0f;
        y[i] = x[i] + value;
    }
}
