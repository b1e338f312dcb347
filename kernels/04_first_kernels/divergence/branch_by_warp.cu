// y[i] = what one of two series makes of x[i], for n fp32 elements: `steps` FMAs either way.
// Adds to branch_by_thread.cu: the threads of a warp go the same way, odd and even warps different
// ones. A branch costs nothing where a whole warp agrees.
// Limit: instructions.
// grid (ceil(n / 256)), block (256), dynamic shared 0

#include "two_series.cuh"

extern "C" __global__ void branch_by_warp(const float *x, float *y, int steps, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        if (i / warpSize % 2 == 0) {
            y[i] = series(x[i], kFirstTerm, steps);
        } else {
            y[i] = series(x[i], kSecondTerm, steps);
        }
    }
}
