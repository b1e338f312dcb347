// A warp that brings tiles through a ring of buffers with bulk copies, and warps that use them up.
#include <cstdint>

#define DEVICE static __device__ __forceinline__

DEVICE uint32_t smem_u32(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
DEVICE void mbar_init(uint32_t bar, uint32_t count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(count));
}
DEVICE void mbar_expect(uint32_t bar, uint32_t bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}
DEVICE void mbar_arrive(uint32_t bar)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
}
DEVICE void mbar_wait(uint32_t bar, uint32_t parity)
{
    asm volatile(
        "{\n"
        ".reg .pred P1;\n"
        "LAB_WAIT:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n"
        "@P1 bra DONE;\n"
        "bra LAB_WAIT;\n"
        "DONE:\n"
        "}\n" ::"r"(bar), "r"(parity) : "memory");
}
DEVICE void bulk_load(uint32_t dst, const void *src, uint32_t bytes, uint32_t bar)
{
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(dst),
        "l"(src), "r"(bytes), "r"(bar) : "memory");
}

template <int STAGES, int TILE> struct Ring {
    alignas(128) float data[STAGES][TILE];
    alignas(8) uint64_t full[STAGES], empty[STAGES];
};

extern "C" __global__ void __launch_bounds__(160) warp_specialised_sum(const float *in, float *out, int tiles)
{
    constexpr int STAGES = 3, TILE = 128, CONSUMERS = 128;
    __shared__ Ring<STAGES, TILE> ring;
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; ++s) {
            mbar_init(smem_u32(&ring.full[s]), 1);
            mbar_init(smem_u32(&ring.empty[s]), CONSUMERS / 32);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();

    if (threadIdx.x >= CONSUMERS) {  // producer
        if (threadIdx.x == CONSUMERS) {
            for (int t = 0, s = 0, phase = 0; t < tiles; ++t) {
                mbar_wait(smem_u32(&ring.empty[s]), phase ^ 1);
                mbar_expect(smem_u32(&ring.full[s]), TILE * 4);
                bulk_load(smem_u32(ring.data[s]), in + (blockIdx.x * tiles + t) * TILE, TILE * 4,
                          smem_u32(&ring.full[s]));
                if (++s == STAGES) s = 0, phase ^= 1;
            }
        }
    } else {
        float sum = 0;
        for (int t = 0, s = 0, phase = 0; t < tiles; ++t) {
            mbar_wait(smem_u32(&ring.full[s]), phase);
            sum += ring.data[s][TILE - 1 - threadIdx.x] * (t + 1);
            __syncwarp();
            if (threadIdx.x % 32 == 0) mbar_arrive(smem_u32(&ring.empty[s]));
            if (++s == STAGES) s = 0, phase ^= 1;
        }
        out[blockIdx.x * CONSUMERS + threadIdx.x] = sum;
    }
}
