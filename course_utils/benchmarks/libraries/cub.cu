// Algorithms of CUB as C functions, for Python to call. With temp == nullptr a function only sets
// *bytes to the temporary storage that it needs; each returns CUDA's error code.
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

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

extern "C" int scan_fp32(void* temp, size_t* bytes, const float* x, float* out, int n,
                         cudaStream_t stream)
{
    return cub::DeviceScan::InclusiveSum(temp, *bytes, x, out, n, stream);
}

struct Above
{
    float limit;
    __device__ bool operator()(float value) const
    {
        return value > limit;
    }
};

extern "C" int select_above(void* temp, size_t* bytes, const float* x, float* out, unsigned* count,
                            float limit, int n, cudaStream_t stream)
{
    return cub::DeviceSelect::If(temp, *bytes, x, out, count, n, Above{limit}, stream);
}

extern "C" int sort_keys(void* temp, size_t* bytes, const unsigned* keys, unsigned* sorted, int n,
                         cudaStream_t stream)
{
    return cub::DeviceRadixSort::SortKeys(temp, *bytes, keys, sorted, n, 0, 32, stream);
}

extern "C" int sort_pairs(void* temp, size_t* bytes, const unsigned* keys, unsigned* sorted,
                          const unsigned* values, unsigned* sorted_values, int n,
                          cudaStream_t stream)
{
    return cub::DeviceRadixSort::SortPairs(temp, *bytes, keys, sorted, values, sorted_values, n, 0,
                                           32, stream);
}
