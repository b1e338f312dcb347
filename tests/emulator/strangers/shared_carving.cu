// Softmax of gathered rows; one dynamic array cut into parts of three types, sized by arguments.
#include <cmath>
#include <cstddef>
#include <cuda_fp16.h>

class Carver {
    char *at;

public:
    __device__ explicit Carver(char *memory) : at(memory) {}
    template <class T> __device__ T *take(std::size_t count)
    {
        at = reinterpret_cast<char *>((reinterpret_cast<std::size_t>(at) + alignof(T) - 1) & ~(alignof(T) - 1));
        T *part = reinterpret_cast<T *>(at);
        at += count * sizeof(T);
        return part;
    }
};

extern "C" __global__ void softmax_of_gathered(const half *x, const int *rows, half *y, int columns)
{
    extern __shared__ __align__(16) char memory[];
    Carver carver(memory);
    half *row = carver.take<half>(columns);
    double *sums = carver.take<double>(blockDim.x / 32);
    float *most = carver.take<float>(blockDim.x / 32);
    const half *mine = x + (std::size_t)rows[blockIdx.x] * columns;

    float m = -INFINITY;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) {
        row[c] = mine[c];
        m = std::fmax(m, __half2float(row[c]));
    }
    for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
    if (threadIdx.x % 32 == 0) most[threadIdx.x / 32] = m;
    __syncthreads();
    for (int w = 0; w < blockDim.x / 32; ++w) m = fmaxf(m, most[w]);

    double sum = 0;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += expf(__half2float(row[c]) - m);
    for (int o = 16; o; o >>= 1) sum += __shfl_xor_sync(~0u, sum, o);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0;
    for (int w = 0; w < blockDim.x / 32; ++w) sum += sums[w];
    for (int c = threadIdx.x; c < columns; c += blockDim.x) {
        y[(std::size_t)blockIdx.x * columns + c] = __float2half(expf(__half2float(row[c]) - m) / (float)sum);
    }
}
