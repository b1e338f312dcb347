// mean[b] and largest[b] of the tile of 256 floats of block b, each tile whole. Two collective calls
// of CUB in the same room: between them all threads have to have left it.
// grid n / 256, block 256, dynamic shared 0

#include <cub/block/block_reduce.cuh>

constexpr int kThreads = 256;

struct Larger {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

extern "C" __global__ void mean_and_largest(const float *x, float *mean, float *largest)
{
    using Reduce = cub::BlockReduce<float, kThreads>;
    __shared__ typename Reduce::TempStorage room;
    const float value = x[blockIdx.x * kThreads + threadIdx.x];
    const float sum = Reduce(room).Sum(value);
    __syncthreads(); // the room may be used again
    const float most = Reduce(room).Reduce(value, Larger{});
    if (threadIdx.x == 0) {
        mean[blockIdx.x] = sum / kThreads;
        largest[blockIdx.x] = most;
    }
}
