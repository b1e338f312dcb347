// Third link of a chain of four: dropout in place. y[i] becomes y[i] / keep with a chance of `keep`
// and 0 otherwise, for n fp32 elements.
// The idea: a hash of the element's index and a seed decides, so no mask is read or stored.
// Limit: bytes in flight, as in copy.cu. Eight bytes move for some ten instructions.
// grid (ceil(n / 256)), block (256), dynamic shared 0

#include "dropout.cuh"

extern "C" __global__ void chain_dropout(float *y, unsigned seed, float keep, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = kept(i, seed, keep) ? y[i] / keep : 0.0f;
    }
}
