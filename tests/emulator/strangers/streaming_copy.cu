// A grid-stride copy of vectors with cache policies, between the calls of a dependent launch.
#include <cstdint>

__device__ __forceinline__ uint64_t make_policy_evict_first()
{
    uint64_t policy;
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}

__device__ __forceinline__ uint4 ld_flag_no_allocate(const uint4 *ptr, uint64_t policy)
{
    uint4 v;
    asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(ptr), "l"(policy));
    return v;
}

extern "C" __global__ void streaming_copy(const uint4 *__restrict__ src, uint4 *__restrict__ dst, int n)
{
    asm volatile("griddepcontrol.wait;" ::: "memory");
    const uint64_t policy = make_policy_evict_first();
    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        if (i + stride < n) asm volatile("prefetch.global.L2 [%0];" ::"l"(src + i + stride));
        const uint4 v = ld_flag_no_allocate(src + i, policy);
        asm volatile("st.global.L1::no_allocate.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(dst + i),
                     "r"(v.w), "r"(v.z), "r"(v.y), "r"(v.x) : "memory");
    }
    asm volatile("griddepcontrol.launch_dependents;");
}
