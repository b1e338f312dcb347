// Rotary positions: pairs of a head's elements turn by an angle; halves, or bfloat16.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

struct BF16 {
    using Two = __nv_bfloat162;
    static __device__ float2 load(Two v) { return __bfloat1622float2(v); }
    static __device__ Two store(float2 v) { return __float22bfloat162_rn(v); }
};
struct FP16 {
    using Two = half2;
    static __device__ float2 load(Two v) { return __half22float2(v); }
    static __device__ Two store(float2 v) { return __float22half2_rn(v); }
};

template <class T>
__device__ __forceinline__ void rope(typename T::Two *x, const int *positions, int heads, int pairs, float theta)
{
    const int token = blockIdx.x, head = blockIdx.y;
    for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
        float s, c;
        const float angle = positions[token] * exp2f(-log2f(theta) * i / pairs);
        __sincosf(angle, &s, &c);
        typename T::Two &at = x[(token * heads + head) * pairs + i];
        const float2 v = T::load(at);
        at = T::store(make_float2(v.x * c - v.y * s, v.x * s + v.y * c));
    }
}

extern "C" __global__ void rope_f16(half2 *x, const int *positions, int heads, int pairs, float theta)
{
    rope<FP16>(x, positions, heads, pairs, theta);
}
extern "C" __global__ void rope_bf16(__nv_bfloat162 *x, const int *positions, int heads, int pairs, float theta)
{
    rope<BF16>(x, positions, heads, pairs, theta);
}
