// n floats from 0 up to but not 1, as torch.rand(n, device="cuda") draws them: every thread has a
// subsequence of its own, and gives the four numbers of a turn to elements that lie as many apart as
// the grid has threads. So the grid decides which number an element gets.
// grid PyTorch's own, block 256, dynamic shared 0

#include "philox.cuh" // philox, uniform

extern "C" __global__ void philox_torch(float *out, unsigned long long seed,
                                        unsigned long long offset, int n)
{
    const long long threads = (long long)gridDim.x * blockDim.x;
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (long long turn = 0; 4 * turn * threads + thread < n; ++turn) {
        const uint4 four = philox(seed, thread, offset / 4 + turn);
        const unsigned each[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const long long i = (4 * turn + j) * threads + thread;
            if (i < n) {
                const float value = uniform(each[j]);
                out[i] = value == 1.0f ? 0.0f : value;
            }
        }
    }
}
