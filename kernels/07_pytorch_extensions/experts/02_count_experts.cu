// How many assignments of each chunk of CHUNK go to each expert: counts (chunks x EXPERTS). chosen
// has n of them, in the order of tokens. Any n.
// The idea: histogram_shared with a histogram for each chunk, so that chunks can be placed in their
// order.
// Limit: a popular expert's counter has the atomics of a whole chunk.
// grid (ceil(n / CHUNK)), block (CHUNK), dynamic shared 0

#include "experts.cuh"

extern "C" __global__ void count_experts(const int *chosen, int *counts, int n)
{
    __shared__ int count[EXPERTS];
    for (int e = threadIdx.x; e < EXPERTS; e += CHUNK) {
        count[e] = 0;
    }
    __syncthreads();
    const int i = blockIdx.x * CHUNK + threadIdx.x;
    if (i < n) {
        atomicAdd(&count[chosen[i]], 1);
    }
    __syncthreads();
    for (int e = threadIdx.x; e < EXPERTS; e += CHUNK) {
        counts[(size_t)blockIdx.x * EXPERTS + e] = count[e];
    }
}
