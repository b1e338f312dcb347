// Random numbers by counting: Philox 4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as
// 1, 2, 3", 2011), in the order of cuRAND's curand_init(seed, subsequence, offset). No state: the
// same three numbers give the same four results wherever and whenever they are asked for.

#pragma once

// Four 32-bit numbers of `subsequence`, from 4 * block on.
__device__ inline uint4 philox(unsigned long long seed, unsigned long long subsequence,
                               unsigned long long block)
{
    constexpr unsigned kFactorX = 0xD2511F53, kFactorZ = 0xCD9E8D57;
    constexpr unsigned kWeylX = 0x9E3779B9, kWeylY = 0xBB67AE85; // added to the key in each round
    constexpr int kRounds = 10;
    unsigned key_x = static_cast<unsigned>(seed), key_y = static_cast<unsigned>(seed >> 32);
    uint4 c = make_uint4(static_cast<unsigned>(block), static_cast<unsigned>(block >> 32),
                         static_cast<unsigned>(subsequence),
                         static_cast<unsigned>(subsequence >> 32));
#pragma unroll
    for (int round = 0; round < kRounds; ++round) {
        c = make_uint4(__umulhi(kFactorZ, c.z) ^ c.y ^ key_x, kFactorZ * c.z,
                       __umulhi(kFactorX, c.x) ^ c.w ^ key_y, kFactorX * c.x);
        key_x += kWeylX;
        key_y += kWeylY;
    }
    return c;
}

// 32 random bits as a number above 0 and up to 1, as curand_uniform makes it.
__device__ inline float uniform(unsigned bits)
{
    constexpr float kStep = 2.3283064e-10f; // 2^-32
    return bits * kStep + kStep / 2;
}

// Of four random numbers: 1 / keep where dropout keeps, 0 where it drops. Keeps with a chance of
// `keep` out of 1.
__device__ inline void dropout_factors(float (&factors)[4], uint4 bits, float keep)
{
    const unsigned each[4] = {bits.x, bits.y, bits.z, bits.w};
    float scale = 1.0f / keep;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        factors[i] = uniform(each[i]) < keep ? scale : 0.0f;
    }
}
