// The transforms of batch rows of POINTS complex points; POINTS is 256 or 4096.
// Adds to fft_padded: two other ways to the factors. TWIDDLES 0 computes them exactly, as before; 1
// asks the special function unit (__sincosf); 2 reads them from `roots`, exp(-2 pi i k / POINTS)
// for k < POINTS, which the other two leave alone.
// Limit: memory for 1, and for 2 at 256 points. At 4096 points 2 takes nearly twice the time of 1
// on an H200, with fewer instructions, but a load more for each factor.
// grid (batch), block (POINTS / 16), dynamic shared 0

#include "fft.cuh"

#ifndef POINTS
#define POINTS 4096
#endif
#ifndef TWIDDLES
#define TWIDDLES 1
#endif

constexpr int kRadix = 16;
constexpr int kThreads = POINTS / kRadix; // each holds 16 points

// One float2 of padding after 16: neighbours at strides of 16 lie in different banks.
__device__ constexpr unsigned padded(unsigned i)
{
    return i + i / 16;
}

__device__ __forceinline__ float2 factor(int k, int n, const float2 *roots)
{
    if constexpr (TWIDDLES == 0) {
        return root(k, n);
    } else if constexpr (TWIDDLES == 1) {
        return root_fast(k, n);
    } else {
        return __ldg(&roots[k * (POINTS / n)]);
    }
}

// Stages of radix 16, from transforms of kDone points to one of POINTS.
template <int kDone>
__device__ __forceinline__ void stages(float2 *v, float2 *shared, const float2 *roots)
{
    int j = threadIdx.x; // the butterfly
    int k = j % kDone;
    if constexpr (kDone > 1) {
#pragma unroll
        for (int r = 1; r < kRadix; ++r) {
            v[r] = v[r] * factor(r * k, kDone * kRadix, roots);
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
        stages<kDone * kRadix>(v, shared, roots);
    }
}

extern "C" __global__ void __launch_bounds__(kThreads)
    fft_twiddles(const float2 *in, float2 *out, const float2 *roots)
{
    __shared__ float2 shared[POINTS + POINTS / 16];
    in += (size_t)blockIdx.x * POINTS + threadIdx.x;
    out += (size_t)blockIdx.x * POINTS + threadIdx.x;
    float2 v[kRadix];
#pragma unroll
    for (int r = 0; r < kRadix; ++r) {
        v[r] = in[r * kThreads];
    }
    stages<1>(v, shared, roots);
#pragma unroll
    for (int r = 0; r < kRadix; ++r) {
        out[r * kThreads] = v[r];
    }
}
