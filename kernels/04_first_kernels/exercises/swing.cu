// Finds the least and the largest of n floats, and stores largest - least in swing[0]. low[b] and
// high[b] become those of block b. done[0] counts blocks, launch after launch. Takes any n above 0.
// grid (ceil(n / 256)), block (256), dynamic shared 0

constexpr int kThreads = 256;
constexpr float kInfinity = 3.402823466e+38f;  // no float is beyond it but infinity

// The least over the block, in every thread.
__device__ float block_least(float value, float* of_warp)
{
    for (int distance = 16; distance > 0; distance /= 2) {
        value = fminf(value, __shfl_xor_sync(0xffffffff, value, distance));
    }
    __syncthreads();  // the last ones have been read
    if (threadIdx.x % 32 == 0) {
        of_warp[threadIdx.x / 32] = value;
    }
    __syncthreads();
    for (int warp = 0; warp < kThreads / 32; ++warp) {
        value = fminf(value, of_warp[warp]);
    }
    return value;
}

extern "C" __global__ void swing(
    const float* x, float* low, float* high, float* swing, unsigned* done, int n)
{
    __shared__ float of_warp[kThreads / 32];
    __shared__ bool last;
    const int i = blockIdx.x * kThreads + threadIdx.x;
    float least = block_least(i < n ? x[i] : kInfinity, of_warp);
    float largest = -block_least(i < n ? -x[i] : kInfinity, of_warp);

    if (threadIdx.x == 0) {
        low[blockIdx.x] = least;
        high[blockIdx.x] = largest;
        __threadfence();  // whoever sees the count sees these two
        last = atomicAdd(done, 1u) % gridDim.x == gridDim.x - 1;
        // BUG
        // SOLUTION
        __threadfence();  // what the others stored is read after their count
        // END
    }
    __syncthreads();
    if (last) {
        least = kInfinity;
        largest = -kInfinity;
        for (int block = threadIdx.x; block < gridDim.x; block += kThreads) {
            least = fminf(least, low[block]);
            largest = fmaxf(largest, high[block]);
        }
        least = block_least(least, of_warp);
        largest = -block_least(-largest, of_warp);
        if (threadIdx.x == 0) {
            swing[0] = largest - least;
        }
    }
}
