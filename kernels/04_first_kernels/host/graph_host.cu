// A whole program in C++: 100 short kernels, launched one by one and as one CUDA graph.
// A stream is put into capture: launches are recorded, not run. The graph made of them is then
// launched with one call, as often as one likes. n = 10,007 fp32 elements.
// Build and run: nvcc -O2 -arch=native -I kernels graph_host.cu -o graph && ./graph

#include <cmath>

#include "04_first_kernels/threads/fade.cu"
#include "04_first_kernels/host/check.h"

constexpr int kLaunches = 100;

void launch_all(float *d_x, int n, cudaStream_t stream)
{
    for (int launch = 0; launch < kLaunches; ++launch) {
        fade<<<(n + 255) / 256, 256, 0, stream>>>(d_x, n, 1);
    }
    CHECK(cudaGetLastError());
}

int main()
{
    const int n = 10007;
    float *d_x;
    CHECK(cudaMalloc(&d_x, n * sizeof(float)));
    CHECK(cudaMemset(d_x, 0, n * sizeof(float)));
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));

    cudaGraph_t graph;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    launch_all(d_x, n, stream); // recorded, not run
    CHECK(cudaStreamEndCapture(stream, &graph));
    cudaGraphExec_t ready;
    CHECK(cudaGraphInstantiate(&ready, graph, 0));

    cudaEvent_t event[3];
    for (cudaEvent_t &one : event) {
        CHECK(cudaEventCreate(&one));
    }
    for (int run = 0; run < 2; ++run) { // the second run counts
        CHECK(cudaEventRecord(event[0], stream));
        launch_all(d_x, n, stream);
        CHECK(cudaEventRecord(event[1], stream));
        CHECK(cudaGraphLaunch(ready, stream));
        CHECK(cudaEventRecord(event[2], stream));
        CHECK(cudaStreamSynchronize(stream));
    }
    float plain, replayed, value;
    CHECK(cudaEventElapsedTime(&plain, event[0], event[1]));
    CHECK(cudaEventElapsedTime(&replayed, event[1], event[2]));
    CHECK(cudaMemcpy(&value, d_x, sizeof(float), cudaMemcpyDeviceToHost));
    printf("one by one: %.2f us a kernel\n", 1000 * plain / kLaunches);
    printf("as a graph: %.2f us a kernel\n", 1000 * replayed / kLaunches);
    printf("the first element is %.4f, and %.4f was to be expected\n", value,
           1 - std::pow(0.999, 4 * kLaunches));
    return std::abs(value - (1 - std::pow(0.999, 4 * kLaunches))) > 1e-4;
}
