// The transforms of batch rows of POINTS complex points; POINTS is 256 or 4096.
// Adds to fft_shared: padding, so that what lanes store and load at once lies in different banks.
// Limit: the exact factors. Cheaper ones, and nothing else, make it faster at both lengths.
// grid (batch), block (POINTS / 16), dynamic shared 0

#include "fft.cuh"

#ifndef POINTS
#define POINTS 4096
#endif

constexpr int kRadix = 16;
constexpr int kThreads = POINTS / kRadix; // each holds 16 points

// One float2 of padding after 16: neighbours at strides of 16 lie in different banks.
__device__ constexpr unsigned padded(unsigned i)
{
    return i + i / 16;
}

// Stages of radix 16, from transforms of kDone points to one of POINTS.
template <int kDone>
__device__ __forceinline__ void stages(float2 *v, float2 *shared)
{
    int j = threadIdx.x; // the butterfly
    int k = j % kDone;
    if constexpr (kDone > 1) {
#pragma unroll
        for (int r = 1; r < kRadix; ++r) {
            v[r] = v[r] * root(r * k, kDone * kRadix);
        }
    }
    dft<kRadix>(v);
    if constexpr (kDone * kRadix < POINTS) {
        int first = (j - k) * kRadix + k;
        if constexpr (kDone > 1) {
            __syncthreads(); // what the stage before brought has been read
        }
#pragma unroll
        for (int r = 0; r < kRadix; ++r) {
            shared[padded(first + r * kDone)] = v[r];
        }
        __syncthreads();
#pragma unroll
        for (int r = 0; r < kRadix; ++r) {
            v[r] = shared[padded(j + r * kThreads)];
        }
        stages<kDone * kRadix>(v, shared);
    }
}

extern "C" __global__ void __launch_bounds__(kThreads)
    fft_padded(const float2 *in, float2 *out)
{
    __shared__ float2 shared[POINTS + POINTS / 16];
    in += (size_t)blockIdx.x * POINTS + threadIdx.x;
    out += (size_t)blockIdx.x * POINTS + threadIdx.x;
    float2 v[kRadix];
#pragma unroll
    for (int r = 0; r < kRadix; ++r) {
        v[r] = in[r * kThreads];
    }
    stages<1>(v, shared);
#pragma unroll
    for (int r = 0; r < kRadix; ++r) {
        out[r * kThreads] = v[r];
    }
}
