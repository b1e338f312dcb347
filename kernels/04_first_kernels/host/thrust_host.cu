// A whole program in C++: running sums, a selection and a sort by Thrust, on 20,000,003 elements.
// Thrust takes iterators, as the standard library does, and calls CUB.
// Build and run: nvcc -O2 -arch=native thrust_host.cu -o thrust && ./thrust

#include <cstdio>

#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

struct IsEven {
    __device__ bool operator()(unsigned key) const
    {
        return key % 2 == 0;
    }
};

struct Scramble {
    __device__ unsigned operator()(unsigned i) const
    {
        return i * 2654435761u; // odd: no two are equal
    }
};

int main()
{
    const int n = 20000003;
    thrust::device_vector<unsigned> keys(n), upto(n), even(n), places(n);
    thrust::sequence(places.begin(), places.end());
    thrust::transform(places.begin(), places.end(), keys.begin(), Scramble{});

    thrust::inclusive_scan(keys.begin(), keys.end(), upto.begin());
    const auto end = thrust::copy_if(keys.begin(), keys.end(), even.begin(), IsEven{});
    printf("the sum of all, modulo 2^32: %u\n", (unsigned)upto.back());
    printf("even keys: %d\n", (int)(end - even.begin()));

    thrust::sort_by_key(keys.begin(), keys.end(), places.begin());
    printf("the smallest key was at %u\n", (unsigned)places.front());
    const bool sorted = thrust::is_sorted(keys.begin(), keys.end());
    printf("sorted: %s\n", sorted ? "yes" : "no");
}
