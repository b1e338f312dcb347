// out[i] is number offset + i of the stream that cuRAND's host API draws by Philox 4x32-10: four
// numbers of each of `streams` subsequences, then the next four of each, and so on; for n numbers.
// offset is any number below 2^60.
// grid any, block any, dynamic shared 0

#include "philox.cuh" // philox(seed, subsequence, block): four numbers

extern "C" __global__ void go_on(unsigned *out, unsigned long long seed, unsigned long long offset,
                                 int streams, int n)
{
    const int threads = gridDim.x * blockDim.x;
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    // TODO: the stream is cut into groups of four, and a group is one call of philox, which no other
    // thread repeats. The first group of the range may have begun before it, the last may go beyond
    // SOLUTION
    const unsigned long long first = offset / 4;
    const unsigned long long end = (offset + n + 3) / 4;
    for (unsigned long long group = first + thread; group < end; group += threads) {
        const uint4 four = philox(seed, group % streams, group / streams);
        const unsigned each[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const long long i = static_cast<long long>(4 * group + j - offset);
            if (i >= 0 && i < n) {
                out[i] = each[j];
            }
        }
    }
    // END
}
