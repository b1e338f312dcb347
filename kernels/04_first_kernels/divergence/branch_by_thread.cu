// y[i] = what one of two series makes of x[i], for n fp32 elements: `steps` FMAs either way.
// The idea: odd and even threads go different ways. A warp starts one instruction at a time, for the
// lanes that have come to it, so it goes both ways, one after the other, half of its lanes idle.
// Limit: instructions, twice as many as are needed.
// grid (ceil(n / 256)), block (256), dynamic shared 0

#include "two_series.cuh"

extern "C" __global__ void branch_by_thread(const float *x, float *y, int steps, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        if (i % 2 == 0) {
            y[i] = series(x[i], kFirstTerm, steps);
        } else {
            y[i] = series(x[i], kSecondTerm, steps);
        }
    }
}
