// A whole program in C++: unified memory. One pointer for host and device, and no copy is written.
// n = 50,000,017 fp32 elements. The same kernel runs three times on pages that lie in the host's
// memory, in the device's, and in the host's but prefetched; each run is timed on its own.
// Build and run: nvcc -O2 -arch=native -I kernels managed_host.cu -o managed && ./managed

#include <algorithm>

#include "04_first_kernels/threads/fade.cu"
#include "04_first_kernels/host/check.h"

float timed_fade(float *x, int n)
{
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaEventRecord(start));
    fade<<<(n + 255) / 256, 256>>>(x, n, 1);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(stop));
    CHECK(cudaEventSynchronize(stop));
    float milliseconds;
    CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    return milliseconds;
}

// Asks for the pages of x to be moved to device 0, in the default stream.
void prefetch(float *x, size_t bytes)
{
#if CUDART_VERSION >= 13000
    const cudaMemLocation there = {cudaMemLocationTypeDevice, 0};
    CHECK(cudaMemPrefetchAsync(x, bytes, there, 0, 0));
#else
    CHECK(cudaMemPrefetchAsync(x, bytes, 0, 0));
#endif
}

int main()
{
    const int n = 50000017;
    const size_t bytes = n * sizeof(float);
    float *x, *other;
    CHECK(cudaMalloc(&other, bytes));
    timed_fade(other, n); // the first run also loads the kernel
    CHECK(cudaMallocManaged(&x, bytes));

    std::fill(x, x + n, 0.5f); // the host writes: the pages lie in its memory
    printf("pages in the host's memory:   %8.3f ms\n", timed_fade(x, n));
    printf("pages in the device's memory: %8.3f ms\n", timed_fade(x, n));
    std::fill(x, x + n, 0.5f);
    prefetch(x, bytes);
    CHECK(cudaDeviceSynchronize());
    printf("prefetched:                   %8.3f ms\n", timed_fade(x, n));
    const bool right = x[0] == x[n - 1] && x[0] > 0.5f; // the host reads: pages come back
    printf("the host reads %.4f and %.4f\n", x[0], x[n - 1]);

    CHECK(cudaFree(x));
    CHECK(cudaFree(other));
    return !right;
}
