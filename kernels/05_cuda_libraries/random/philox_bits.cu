// n numbers of 32 bits by Philox 4x32-10, in the order of cuRAND's host API: the first four of each
// of `streams` subsequences, then the next four of each, and so on. Each thread computes its numbers
// from their places alone, so that every grid gives the same. A block of four costs ten rounds of
// two products each; that and the stores limit it.
// grid any, block any, dynamic shared 0

#include "philox.cuh" // philox

extern "C" __global__ void philox_bits(unsigned *out, unsigned long long seed, int streams, int n)
{
    const int threads = gridDim.x * blockDim.x;
    const int groups = n / 4 + (n % 4 != 0);
    for (int group = blockIdx.x * blockDim.x + threadIdx.x; group < groups; group += threads) {
        const uint4 four = philox(seed, group % streams, group / streams);
        const unsigned each[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            if (4 * group + j < n) {
                out[4 * group + j] = each[j];
            }
        }
    }
}
