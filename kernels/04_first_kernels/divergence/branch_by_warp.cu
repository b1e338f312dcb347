// y[i] = what one of two series makes of x[i], for n fp32 elements: `steps` FMAs on either path.
// Adds to branch_by_thread.cu: the threads of a warp take the same path, odd and even warps
// different ones. A branch that is uniform in every warp costs nothing.
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
