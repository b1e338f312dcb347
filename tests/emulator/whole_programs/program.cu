// A small program as nvcc sees it: templates, a managed variable, a check of each call.
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                  \
    if (cudaError_t error = (call)) {                                \
        printf("%s: %s\n", #call, cudaGetErrorString(error));        \
        return 1;                                                    \
    }

__managed__ int count;

template <class T>
__global__ void scale(T *x, T by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    x[i] *= by;
    atomicAdd(&count, 1);
}

int main(int, char **words) {
    int n = atoi(words[1]);
    std::vector<float> host(n);
    for (int i = 0; i < n; i++) host[i] = i;
    float *device;
    CHECK(cudaMalloc(&device, n * sizeof(float)));
    CHECK(cudaMemcpy(device, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    scale<<<(n + 63) / 64, 64>>>(device, float(SCALE), n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(host.data(), device, n * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(device));
    printf("%g %g %d\n", host[1], host[n - 1], count);
}
