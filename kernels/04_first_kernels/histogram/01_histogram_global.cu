// Counts how often each of the 256 values occurs among n bytes: counts[pixels[i]] += 1. The counts
// are zero before the launch.
// The idea: many threads add to one count, so the addition must be one step that nobody can come
// between: atomicAdd. The order in which threads add is free, and integer sums do not mind.
// Limit: atomics on 256 words of global memory. All of them meet in the L2 cache, and those on one
// word are serialised.
// grid (ceil(n / 256)), block (256), dynamic shared 0

extern "C" __global__ void histogram_global(const unsigned char *pixels, unsigned *counts, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&counts[pixels[i]], 1);
    }
}
