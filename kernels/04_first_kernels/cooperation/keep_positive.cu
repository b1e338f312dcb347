// Copies the positive ones of n floats to the front of y, in any order; count[0] counts them, and is
// 0 before the launch.
// The idea: a coalesced group is made of the lanes that are active here and now. One of them draws
// tickets for all: one atomic for a warp, and not one for each element.
// Limit: the atomics on one word. Takes any n.
// grid (ceil(n / block)), block (a multiple of 32), dynamic shared 0

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

extern "C" __global__ void keep_positive(const float *x, float *y, int *count, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 0.0f) {
        const auto active = cg::coalesced_threads(); // the lanes that are in this branch
        int first = 0;
        if (active.thread_rank() == 0) {
            first = atomicAdd(count, static_cast<int>(active.size()));
        }
        first = active.shfl(first, 0); // lane 0 of the group, whichever that is of the warp
        y[first + active.thread_rank()] = x[i];
    }
}
