// y[i] = what one of two series makes of x[i], for n fp32 elements: `steps` FMAs on either path.
// The idea: odd and even threads take different paths. A warp issues one instruction at a time,
// for its active lanes, so it executes both paths in turn, with half of its lanes inactive.
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
