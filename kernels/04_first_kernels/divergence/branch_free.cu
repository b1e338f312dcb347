// y[i] = what one of two series makes of x[i], for n fp32 elements: `steps` FMAs on either path.
// Like branch_by_thread.cu, without its branch: the two paths differ in a number
// only, so each thread selects its number and all take the same path.
// Limit: instructions.
// grid (ceil(n / 256)), block (256), dynamic shared 0

#include "two_series.cuh"

extern "C" __global__ void branch_free(const float *x, float *y, int steps, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float term = i % 2 == 0 ? kFirstTerm : kSecondTerm;
        y[i] = series(x[i], term, steps);
    }
}
