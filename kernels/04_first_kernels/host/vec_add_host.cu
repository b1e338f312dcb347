// A whole program in C++: vector addition with no Python around it. n = 1,000,003 fp32 elements.
// The five steps of every CUDA program: allocate device memory, copy the inputs there, launch,
// copy the result back, free the memory. Every call is checked.
// Build and run: nvcc -O2 -arch=native -I kernels vec_add_host.cu -o vec_add && ./vec_add

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "04_first_kernels/threads/vec_add.cu"

// Stops the program with file and line when a call of the CUDA runtime fails.
#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t status = (call);                                                               \
        if (status != cudaSuccess) {                                                               \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status));        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

int main()
{
    const int n = 1000003;
    const size_t bytes = n * sizeof(float);
    std::vector<float> h_a(n), h_b(n), h_c(n); // h_: in the host's memory
    for (int i = 0; i < n; ++i) {
        h_a[i] = i % 1000;
        h_b[i] = i % 7;
    }

    float *d_a, *d_b, *d_c; // d_: addresses in the device's memory
    CHECK(cudaMalloc(&d_a, bytes));
    CHECK(cudaMalloc(&d_b, bytes));
    CHECK(cudaMalloc(&d_c, bytes));
    CHECK(cudaMemcpy(d_a, h_a.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_b, h_b.data(), bytes, cudaMemcpyHostToDevice));

    const int threads = 256;
    const int blocks = (n + threads - 1) / threads;
    vec_add<<<blocks, threads>>>(d_a, d_b, d_c, n);
    CHECK(cudaGetLastError());      // was the launch itself possible?
    CHECK(cudaDeviceSynchronize()); // wait: did the kernel run to its end?

    CHECK(cudaMemcpy(h_c.data(), d_c, bytes, cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < n; ++i) {
        wrong += h_c[i] != h_a[i] + h_b[i];
    }
    printf("%d elements added in %d blocks, %d wrong\n", n, blocks, wrong);

    CHECK(cudaFree(d_a));
    CHECK(cudaFree(d_b));
    CHECK(cudaFree(d_c));
    return wrong != 0;
}
