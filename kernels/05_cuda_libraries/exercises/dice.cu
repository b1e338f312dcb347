// out[i] is a whole number from 0 to sides - 1, each as likely as any other, for n of them. Thread i
// tries the numbers of its own subsequence, one after the other: `bits` is good unless the lower half
// of bits * sides is below 2^32 % sides. The upper half of the first good one is the throw.
// grid ceil(n / 128), block 128, dynamic shared 0

#include "philox.cuh" // philox(seed, subsequence, block): four numbers

extern "C" __global__ void dice(unsigned *out, unsigned long long seed, unsigned sides, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    // TODO: 2^32 has no place in an unsigned. Which remainder has it, and where do the fifth and
    // the following numbers of a subsequence come from?
    // SOLUTION
    const unsigned refused = (0u - sides) % sides; // 2^32 % sides
    for (unsigned long long block = 0;; ++block) {
        const uint4 four = philox(seed, i, block);
        const unsigned each[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            if (each[j] * sides >= refused) {
                out[i] = __umulhi(each[j], sides);
                return;
            }
        }
    }
    // END
}
