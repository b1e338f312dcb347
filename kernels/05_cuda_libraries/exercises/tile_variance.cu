// variance[b] is the mean of the squared distances of the 256 floats of block b from their mean.
// n is a multiple of 256.
// grid n / 256, block 256, dynamic shared 0

#include <cub/block/block_reduce.cuh>

constexpr int kThreads = 256;

extern "C" __global__ void tile_variance(const float *x, float *variance)
{
    using Reduce = cub::BlockReduce<float, kThreads>;
    __shared__ typename Reduce::TempStorage room;
    __shared__ float mean;
    const float value = x[blockIdx.x * kThreads + threadIdx.x];
    // TODO: the sum of all values, their mean for every thread, and then the sum of the squared
    // distances from it, by two calls of Reduce(room).Sum(...)
    // SOLUTION
    const float sum = Reduce(room).Sum(value);
    if (threadIdx.x == 0) {
        mean = sum / kThreads;
    }
    __syncthreads(); // the mean is there, and all have left the room
    const float distance = value - mean;
    const float squares = Reduce(room).Sum(distance * distance);
    if (threadIdx.x == 0) {
        variance[blockIdx.x] = squares / kThreads;
    }
    // END
}
