// Adds the squares of n floats to a running total: *total += x[0]^2 + ... + x[n - 1]^2.
// partial[b] becomes block b's own sum. *left is the number of blocks, before and after. Takes any
// n.
// grid (ceil(n / 256)), block (256), dynamic shared 0

#include "reduce.cuh"

constexpr int kThreads = 256;

extern "C" __global__ void last_block(const float *x, float *total, float *partial, unsigned *left,
                                      int n)
{
    const int i = blockIdx.x * kThreads + threadIdx.x;
    const float value = i < n ? x[i] : 0.0f;
    float sum = block_sum<kThreads>(value * value); // right in the block's first warp

    // TODO: thread 0 stores the block's sum and counts `left` down. The block that finds itself the
    // last one adds the stored sums to the total, all its threads at work, and resets `left`
    // SOLUTION
    __shared__ bool last;
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence(); // release: whoever sees the count sees the sum too
        last = atomicSub(left, 1) == 1;
        __threadfence(); // acquire: no sum is read before the count
    }
    __syncthreads(); // the whole block knows whether it is the last
    if (last) {
        sum = 0.0f;
        for (int block = threadIdx.x; block < gridDim.x; block += kThreads) {
            sum += partial[block];
        }
        sum = block_sum<kThreads>(sum);
        if (threadIdx.x == 0) {
            *total += sum;
            *left = gridDim.x; // ready for the next launch
        }
    }
    // END
}
