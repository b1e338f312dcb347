// The sum of n fp32 elements: *total += x[0] + ... + x[n - 1]. It is zero before the launch.
// Adds to sum_atomic.cu: a block adds its 256 elements in shared memory first, as a tree: pairs of
// neighbours, then pairs of pairs, in eight steps. One atomicAdd a block is left.
// Limit: instructions. The threads that still add lie 2, 4, 8 ... apart, so every warp goes through
// every step for fewer and fewer of its threads.
// grid (ceil(n / 256)), block (256), dynamic shared 0

constexpr int kThreads = 256;

extern "C" __global__ void sum_shared_interleaved(const float *x, float *total, int n)
{
    __shared__ float sums[kThreads];
    int t = threadIdx.x;
    int i = blockIdx.x * kThreads + t;
    sums[t] = i < n ? x[i] : 0.0f;
    for (int distance = 1; distance < kThreads; distance *= 2) {
        __syncthreads(); // the sums of the step before are there
        if (t % (2 * distance) == 0) {
            sums[t] += sums[t + distance];
        }
    }
    if (t == 0) {
        atomicAdd(total, sums[0]);
    }
}
