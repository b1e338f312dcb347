// Dropout with Philox 4x32-10: four numbers for each counter, vectors of four floats.
#include <cuda_runtime.h>

class Philox {
public:
    __device__ inline Philox(unsigned long long seed, unsigned long long subsequence, unsigned long long offset)
    {
        key.x = (unsigned int)seed;
        key.y = (unsigned int)(seed >> 32);
        counter = make_uint4((unsigned)offset, (unsigned)(offset >> 32), (unsigned)subsequence,
                             (unsigned)(subsequence >> 32));
    }
    __device__ inline uint4 operator()()
    {
        uint4 c = counter;
        uint2 k = key;
#pragma unroll
        for (int i = 0; i < 9; i++) {
            c = single_round(c, k);
            k.x += kPhilox10A;
            k.y += kPhilox10B;
        }
        return single_round(c, k);
    }

private:
    uint4 counter;
    uint2 key;
    __device__ inline uint4 single_round(uint4 ctr, uint2 k)
    {
        const unsigned int hi0 = __umulhi(kPhiloxSA, ctr.x), lo0 = kPhiloxSA * ctr.x;
        const unsigned int hi1 = __umulhi(kPhiloxSB, ctr.z), lo1 = kPhiloxSB * ctr.z;
        return {hi1 ^ ctr.y ^ k.x, lo1, hi0 ^ ctr.w ^ k.y, lo0};
    }
    static const unsigned int kPhilox10A = 0x9E3779B9, kPhilox10B = 0xBB67AE85;
    static const unsigned int kPhiloxSA = 0xD2511F53, kPhiloxSB = 0xCD9E8D57;
};

template <int VEC> struct alignas(sizeof(float) * VEC) Pack {
    float v[VEC];
};

extern "C" __global__ void fused_dropout_kernel_vec(const float *a, float *b, unsigned char *mask, int total, float p,
                                                    unsigned long long seed)
{
    const int idx = blockIdx.x * blockDim.x + threadIdx.x;
    const float scale = 1.0f / p;
    for (int i = idx; i * 4 < total; i += gridDim.x * blockDim.x) {
        Philox engine(seed, i, 0);
        const uint4 r = engine();
        const unsigned bits[4] = {r.x, r.y, r.z, r.w};
        const Pack<4> in = *reinterpret_cast<const Pack<4> *>(a + i * 4);
        Pack<4> out;
        uchar4 kept;
        unsigned char *k = &kept.x;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            k[j] = __uint2float_rn(bits[j] >> 8) * (1.0f / 16777216.0f) < p;
            out.v[j] = in.v[j] * k[j] * scale;
        }
        *reinterpret_cast<Pack<4> *>(b + i * 4) = out;
        *reinterpret_cast<uchar4 *>(mask + i * 4) = kept;
    }
}
