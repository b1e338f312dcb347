// A whole program in C++: the same sum of squares three ways, on 100,000,000 floats. By CUB, which
// asks for its temporary memory; by Thrust in two steps, with an array between them; and by Thrust
// in one, with an iterator that squares on the way. Prints each result and its median time.
// Build and run: nvcc -O3 -arch=native cub_device_host.cu -o cub_device && ./cub_device

#include <algorithm>
#include <cstdio>
#include <vector>

#include <cub/device/device_reduce.cuh>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/reduce.h>
#include <thrust/tabulate.h>
#include <thrust/transform.h>

#include "../../04_first_kernels/host/check.h"

struct Square {
    __host__ __device__ float operator()(float x) const { return x * x; }
};

struct Wave { // from -1 to 1, and the same in every run
    __host__ __device__ float operator()(unsigned i) const
    {
        return static_cast<float>(i * 2654435761u) * 0x1p-31f - 1.0f;
    }
};

template <typename Run>
float median_ms(Run run)
{
    constexpr int kWarmUps = 3, kRuns = 21;
    std::vector<float> times;
    cudaEvent_t start, end;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&end));
    for (int i = 0; i < kWarmUps + kRuns; ++i) {
        CHECK(cudaEventRecord(start));
        run();
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        float ms;
        CHECK(cudaEventElapsedTime(&ms, start, end));
        if (i >= kWarmUps) {
            times.push_back(ms);
        }
    }
    std::nth_element(times.begin(), times.begin() + kRuns / 2, times.end());
    return times[kRuns / 2];
}

int main()
{
    const int n = 100000000;
    thrust::device_vector<float> x(n), squares(n), sum(1);
    thrust::tabulate(x.begin(), x.end(), Wave{});
    const float *data = thrust::raw_pointer_cast(x.data());
    float *out = thrust::raw_pointer_cast(sum.data());
    const auto squared = thrust::make_transform_iterator(data, Square{});

    // Called with no memory, CUB only says how many bytes it wants. The second call works.
    size_t bytes = 0;
    CHECK(cub::DeviceReduce::Sum(nullptr, bytes, squared, out, n));
    printf("CUB wants %zu bytes of temporary memory\n", bytes);
    thrust::device_vector<char> room(bytes);
    void *temporary = thrust::raw_pointer_cast(room.data());
    const float by_cub =
        median_ms([&] { CHECK(cub::DeviceReduce::Sum(temporary, bytes, squared, out, n)); });
    printf("%-28s%.8g  %7.3f ms\n", "CUB, memory kept", float(sum[0]), by_cub);

    float result = 0;
    const float in_two = median_ms([&] {
        thrust::transform(x.begin(), x.end(), squares.begin(), Square{});
        result = thrust::reduce(squares.begin(), squares.end());
    });
    printf("%-28s%.8g  %7.3f ms\n", "Thrust, two steps", result, in_two);
    const float in_one =
        median_ms([&] { result = thrust::reduce(thrust::device, squared, squared + n); });
    printf("%-28s%.8g  %7.3f ms\n", "Thrust, an iterator", result, in_one);
}
