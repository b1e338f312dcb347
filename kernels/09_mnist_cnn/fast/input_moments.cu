// The moments of the first step's batch, see input_moments.cuh; update.cu finds the moments of
// later steps.
// Takes any N from 1 and any grid. The moments are zero before.
// grid (any), block 256, dynamic shared 0

#include "input_moments.cuh"

extern "C" __global__ void __launch_bounds__(kMomentThreads)
    input_moments(const unsigned char *images, const int *order, const int *clock,
                  long long *moments, int N)
{
    add_moments(images, order, clock[0], moments, blockIdx.x, gridDim.x, N);
}
