// A whole program in C++: copies and kernels that overlap. n = 20,000,003 fp32 elements, 8 chunks.
// Each chunk is copied to the device, worked on and copied back in one of four streams. The copies
// are asynchronous, which takes page-locked memory on the host's side.
// Build and run: nvcc -O2 -arch=native -I kernels streams_host.cu -o streams && ./streams

#include <algorithm>
#include <cmath>

#include "04_first_kernels/threads/fade.cu"
#include "04_first_kernels/host/check.h"

// Milliseconds of the round trip of n elements, in `chunks`, dealt round-robin to `count` streams.
float round_trip(float *h_x, float *d_x, int n, int chunks, cudaStream_t *streams, int count)
{
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaEventRecord(start)); // in the default stream: the other streams wait for it
    const int per_chunk = (n + chunks - 1) / chunks;
    for (int chunk = 0; chunk < chunks; ++chunk) {
        const int first = chunk * per_chunk;
        const int here = std::min(per_chunk, n - first);
        const size_t bytes = here * sizeof(float);
        cudaStream_t stream = streams[chunk % count];
        CHECK(cudaMemcpyAsync(d_x + first, h_x + first, bytes, cudaMemcpyHostToDevice, stream));
        fade<<<(here + 255) / 256, 256, 0, stream>>>(d_x + first, here, 1000);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpyAsync(h_x + first, d_x + first, bytes, cudaMemcpyDeviceToHost, stream));
    }
    CHECK(cudaEventRecord(stop)); // in the default stream: it waits for the others
    CHECK(cudaEventSynchronize(stop));
    float milliseconds;
    CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    return milliseconds;
}

int main()
{
    const int n = 20000003, count = 4;
    float *h_x, *d_x;
    CHECK(cudaMallocHost(&h_x, n * sizeof(float))); // page-locked memory of the host
    CHECK(cudaMalloc(&d_x, n * sizeof(float)));
    std::fill(h_x, h_x + n, 0.0f);
    cudaStream_t streams[count];
    for (cudaStream_t &stream : streams) {
        CHECK(cudaStreamCreate(&stream));
    }

    round_trip(h_x, d_x, n, 1, streams, 1); // the first run also loads the kernel
    printf("1 chunk, 1 stream:   %6.2f ms\n", round_trip(h_x, d_x, n, 1, streams, 1));
    printf("8 chunks, 4 streams: %6.2f ms\n", round_trip(h_x, d_x, n, 8, streams, count));
    const double want = 1 - std::pow(0.999, 3000); // three trips of 1000 rounds, from zero
    int wrong = 0;
    for (int i = 0; i < n; ++i) {
        wrong += !(std::abs(h_x[i] - want) < 1e-4);
    }
    printf("%d of %d elements wrong\n", wrong, n);

    for (cudaStream_t stream : streams) {
        CHECK(cudaStreamDestroy(stream));
    }
    CHECK(cudaFree(d_x));
    CHECK(cudaFreeHost(h_x));
    return wrong != 0;
}
