// Gradient of dropout: dx[i] = kept(i) ? dy[i] / keep : 0, for n fp32 elements, n a multiple of
// four; the arrays begin at multiples of 16 bytes.
// Like dropout_backward_stored.cu, without the mask: the same hash of index and seed gives the
// same answer as in the forward pass. A few instructions are cheaper than a byte.
// Limit: memory bandwidth. Eight bytes move for each element.
// grid (ceil(n / 1024)), block (256), dynamic shared 0

#include "dropout.cuh"

extern "C" __global__ void dropout_backward_recomputed(const float *dy, float *dx, unsigned seed,
                                                       float keep, int n)
{
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) {
        float inverse = 1.0f / keep;
        float4 in = *reinterpret_cast<const float4 *>(&dy[i]);
        float4 out;
        out.x = kept(i + 0, seed, keep) ? in.x * inverse : 0.0f;
        out.y = kept(i + 1, seed, keep) ? in.y * inverse : 0.0f;
        out.z = kept(i + 2, seed, keep) ? in.z * inverse : 0.0f;
        out.w = kept(i + 3, seed, keep) ? in.w * inverse : 0.0f;
        *reinterpret_cast<float4 *>(&dx[i]) = out;
    }
}
