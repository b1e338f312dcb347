// The transforms of batch rows of POINTS complex points; POINTS is 256 or 4096.
// Adds to fft_radix: all stages in one launch, a block for each row. Between two stages the points
// change hands in shared memory: each is read from memory once and written once.
// Limit: at 4096 points bank conflicts, among others: lanes store at strides of 16 float2, or 32
// words, all in the same banks. At 256 points padding gains nothing on an H200.
// grid (batch), block (POINTS / 16), dynamic shared 0

#include "fft.cuh"

#ifndef POINTS
#define POINTS 4096
#endif

constexpr int kRadix = 16;
constexpr int kThreads = POINTS / kRadix; // each holds 16 points

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
            shared[first + r * kDone] = v[r];
        }
        __syncthreads();
#pragma unroll
        for (int r = 0; r < kRadix; ++r) {
            v[r] = shared[j + r * kThreads];
        }
        stages<kDone * kRadix>(v, shared);
    }
}

extern "C" __global__ void __launch_bounds__(kThreads)
    fft_shared(const float2 *in, float2 *out)
{
    __shared__ float2 shared[POINTS];
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
