// out[i] is what `rounds` rounds of Philox 4x32 make of counters[i], under a key of 64 bits; for n
// counters of four numbers. With ten rounds it is philox() of kernels/common/philox.cuh.
// grid ceil(n / 128), block 128, dynamic shared 0

extern "C" __global__ void philox_rounds(const uint4 *counters, uint4 *out, unsigned long long key,
                                         int rounds, int n)
{
    constexpr unsigned kFactorX = 0xD2511F53, kFactorZ = 0xCD9E8D57;
    constexpr unsigned kWeylX = 0x9E3779B9, kWeylY = 0xBB67AE85;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    unsigned key_x = static_cast<unsigned>(key);
    unsigned key_y = static_cast<unsigned>(key >> 32);
    uint4 c = counters[i];
    for (int round = 0; round < rounds; ++round) {
        // TODO: x times kFactorX and z times kFactorZ are 64 bits each. The new x is the upper half
        // of z's product ^ y ^ key_x, the new y its lower half; the new z is the upper half of x's
        // product ^ w ^ key_y, the new w its lower half. Then the key moves on by kWeylX, kWeylY
        // SOLUTION
        c = make_uint4(__umulhi(kFactorZ, c.z) ^ c.y ^ key_x, kFactorZ * c.z,
                       __umulhi(kFactorX, c.x) ^ c.w ^ key_y, kFactorX * c.x);
        key_x += kWeylX;
        key_y += kWeylY;
        // END
    }
    out[i] = c;
}
