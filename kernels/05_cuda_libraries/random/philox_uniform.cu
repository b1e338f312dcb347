// n floats above 0 and up to 1 by Philox 4x32-10, equal to those of cuRAND's host API bit by bit,
// n a multiple of 4. Adds to philox_bits: a block of four leaves in one store of 16 bytes. The
// stores limit it: nothing is read.
// grid ceil(n / 1024), block 256, dynamic shared 0

#include "philox.cuh" // philox, uniform

constexpr int kStreams = 65536; // subsequences that cuRAND deals its blocks from; a power of two

extern "C" __global__ void philox_uniform(float4 *out, unsigned long long seed, int n)
{
    const int group = blockIdx.x * blockDim.x + threadIdx.x;
    if (group < n / 4) {
        const uint4 four = philox(seed, group % kStreams, group / kStreams);
        out[group] =
            make_float4(uniform(four.x), uniform(four.y), uniform(four.z), uniform(four.w));
    }
}
