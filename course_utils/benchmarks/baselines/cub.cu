// Algorithms of CUB as C functions, for Python to call. With temp == nullptr a function only sets
// *bytes to the temporary storage that it needs; each returns CUDA's error code.
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_reduce.cuh>

extern "C" int sum_fp32(void* temp, size_t* bytes, const float* x, float* sum, int n,
                        cudaStream_t stream)
{
    return cub::DeviceReduce::Sum(temp, *bytes, x, sum, n, stream);
}

extern "C" int histogram_of_bytes(void* temp, size_t* bytes, const unsigned char* x, int* counts,
                                  int n, cudaStream_t stream)
{
    // 257 limits, from 0 to 256, part the values into 256 bins.
    return cub::DeviceHistogram::HistogramEven(temp, *bytes, x, counts, 257, 0, 256, n, stream);
}
