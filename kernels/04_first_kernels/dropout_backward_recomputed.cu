// Gradient of dropout: dx[i] = kept(i) ? dy[i] / keep : 0, for n fp32 elements.
// Does as dropout_backward_stored.cu without the mask: the same hash of index and seed gives the
// same answer as in the forward pass. A few instructions are cheaper than a byte.
// Limit: starting blocks, as in copy.cu; then memory. Eight bytes move for each element.
// grid (ceil(n / 256)), block (256), dynamic shared 0

#include "dropout.cuh"

extern "C" __global__ void dropout_backward_recomputed(const float *dy, float *dx, unsigned seed,
                                                       float keep, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        dx[i] = kept(i, seed, keep) ? dy[i] / keep : 0.0f;
    }
}
