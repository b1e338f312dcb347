// A whole program in C++ to look at with a profiler: three transposes and two products of n x n
// matrices. NVTX ranges name its parts, so that a profiler can show or pick them by name.
// Build and run: nvcc -O3 -lineinfo -arch=native -I kernels profiled_host.cu -o profiled
//                ncu --nvtx --nvtx-include "transposes/" ./profiled 1024

#include <cstdio>
#include <cstdlib>
#include <nvtx3/nvToolsExt.h>
#include <vector>

namespace naive
{
#include "04_first_kernels/transpose/01_transpose_naive.cu"
}
namespace shared
{
#include "04_first_kernels/transpose/02_transpose_shared.cu"
}
namespace padded
{
#include "04_first_kernels/transpose/03_transpose_padded.cu"
}
#include "04_first_kernels/host/check.h"
#include "06_matmul_and_fft/sgemm/02_sgemm_coalesced.cu"
#include "06_matmul_and_fft/sgemm/01_sgemm_naive.cu"

int main(int count, char **words)
{
    const int n = count > 1 ? atoi(words[1]) : 1024;
    const size_t bytes = sizeof(float) * n * n;
    std::vector<float> h_a(n * n, 1.0f);
    float *a, *b, *c;

    nvtxRangePushA("setup");
    CHECK(cudaMalloc(&a, bytes));
    CHECK(cudaMalloc(&b, bytes));
    CHECK(cudaMalloc(&c, bytes));
    CHECK(cudaMemcpy(a, h_a.data(), bytes, cudaMemcpyHostToDevice));
    nvtxRangePop();

    const dim3 grid((n + 31) / 32, (n + 31) / 32), block(32, 32);
    nvtxRangePushA("transposes");
    naive::transpose_naive<<<grid, block>>>(a, b, n, n);
    shared::transpose_shared<<<grid, block>>>(a, b, n, n);
    padded::transpose_padded<<<grid, block>>>(a, b, n, n);
    CHECK(cudaDeviceSynchronize());
    nvtxRangePop();

    nvtxRangePushA("products");
    sgemm_naive<<<grid, block>>>(a, b, c, n, n, n);
    sgemm_coalesced<<<grid, block>>>(a, b, c, n, n, n);
    CHECK(cudaDeviceSynchronize());
    nvtxRangePop();

    CHECK(cudaMemcpy(h_a.data(), c, bytes, cudaMemcpyDeviceToHost));
    printf("n = %d, the first element of the product is %g\n", n, h_a[0]);
    return 0;
}
