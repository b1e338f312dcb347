// counts[k] += how often k from 0 to 63 occurs among n keys.
// The idea: counters in shared memory, which some warps set to zero and all warps count on. Between
// the two stands a barrier.
// Limit: atomics on shared memory. Takes any n.
// grid (any), block (256), dynamic shared 0

constexpr int kKeys = 64;

extern "C" __global__ void count_keys(const int *keys, int *counts, int n)
{
    __shared__ int mine[kKeys];
    if (threadIdx.x < kKeys) {
        mine[threadIdx.x] = 0; // by two warps of eight
    }
    __syncthreads(); // zeros are there
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&mine[keys[i]], 1);
    }
    __syncthreads(); // all have counted
    if (threadIdx.x < kKeys) {
        atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
    }
}
