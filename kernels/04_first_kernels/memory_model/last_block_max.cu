// largest[0] = the largest of n floats. largest_of[b] becomes that of block b, done[0] counts blocks:
// it is 0 before the launch, and 0 after it.
// The idea: the block that finds all others counted reads what they have written. The atomic's order
// is acq_rel: it releases this block's number, and acquires those of the blocks before.
// Limit: one word where all blocks meet. Takes any n.
// grid (any), block (256), dynamic shared 0

#include <cuda/atomic>
#include <math_constants.h>

#ifndef ORDER
#define ORDER cuda::memory_order_acq_rel
#endif

constexpr int kThreads = 256;

// The largest of the block, in every thread.
__device__ float block_max(float value)
{
    __shared__ float of_warp[kThreads / 32];
    for (int distance = 16; distance > 0; distance /= 2) {
        value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, distance));
    }
    __syncthreads(); // every warp has read the last ones
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
    __syncthreads(); // every warp's is there
    for (int warp = 0; warp < kThreads / 32; ++warp) {
        value = fmaxf(value, of_warp[warp]);
    }
    return value;
}

extern "C" __global__ void last_block_max(const float *x, float *largest_of, float *largest,
                                          unsigned *done, int n)
{
    const int stride = gridDim.x * kThreads;
    float value = -CUDART_INF_F;
    for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += stride) {
        value = fmaxf(value, x[i]);
    }
    value = block_max(value);

    __shared__ bool last;
    if (threadIdx.x == 0) {
        largest_of[blockIdx.x] = value;
        cuda::atomic_ref<unsigned, cuda::thread_scope_device> count(*done);
        last = count.fetch_add(1, ORDER) == gridDim.x - 1;
    }
    __syncthreads(); // the block knows whether it is the last, and what thread 0 acquired
    if (last) {
        value = -CUDART_INF_F;
        for (int block = threadIdx.x; block < gridDim.x; block += kThreads) {
            value = fmaxf(value, largest_of[block]);
        }
        value = block_max(value);
        if (threadIdx.x == 0) {
            largest[0] = value;
            done[0] = 0; // ready for the next launch
        }
    }
}
