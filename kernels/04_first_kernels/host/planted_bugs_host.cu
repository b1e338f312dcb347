// A whole program in C++ that runs one of the kernels of planted_bugs.cuh, by name.
// It ends with what CUDA says about the launch: for most of them, that all is well.
// Build and run: nvcc -lineinfo -arch=native -I kernels planted_bugs_host.cu -o planted_bugs
//                ./planted_bugs no_guard

#include <cassert>
#include <cstdio>
#include <cstring>
#include <vector>

#include "04_first_kernels/host/check.h"
#include "04_first_kernels/host/planted_bugs.cuh"

int main(int count, char **words)
{
    const char *name = count > 1 ? words[1] : "";
    const int n = 1000;
    const int blocks = (n + 255) / 256;
    std::vector<float> h_x(n, 1.0f);
    std::vector<int> h_where(n);
    for (int i = 0; i < n; ++i) {
        h_where[i] = n - 1 - i;
    }
    h_where[700] = 1 << 30; // no index of x

    float *x, *y;
    int *where;
    CHECK(cudaMalloc(&x, n * sizeof(float)));
    CHECK(cudaMalloc(&y, n * sizeof(float)));
    CHECK(cudaMalloc(&where, n * sizeof(int)));
    CHECK(cudaMemcpy(x, h_x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(where, h_where.data(), n * sizeof(int), cudaMemcpyHostToDevice));

    auto is = [&](const char *other) { return strcmp(name, other) == 0; };
    if (is("no_guard"))
        no_guard<<<blocks, 256>>>(x, y, n);
    if (is("no_barrier"))
        no_barrier<<<1, 256>>>(x, y);
    if (is("no_zero"))
        no_zero<<<blocks, 256>>>(x, y, n);
    if (is("no_fill"))
        no_fill<<<1, 256>>>(x, y);
    if (is("barrier_in_guard"))
        barrier_in_guard<<<blocks, 256>>>(x, y, n);
    if (is("far_index"))
        far_index<<<blocks, 256>>>(x, where, y, n);
    if (is("sure_index"))
        sure_index<<<blocks, 256>>>(x, where, y, n);

    cudaError_t status = cudaGetLastError();
    if (status == cudaSuccess)
        status = cudaDeviceSynchronize();
    printf("%s: CUDA says \"%s\"\n", name, cudaGetErrorString(status));
    return 0;
}
