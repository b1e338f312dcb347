// Sums of n fp32 elements, one for each block of 256: sums[b] = x[256 b] + ... + x[256 b + 255]. A
// launch on its own results, and another, leave one number: the sum of all.
// Adds to sum_atomic.cu: no address that all threads update. A block adds its elements in shared
// memory as a tree: pairs of neighbours, then pairs of pairs, in eight steps.
// Limit: latency. Eight steps, each a chain of barrier, read, add and write. The threads that still
// add lie 2, 4, 8 ... apart, so every warp diverges, for fewer and fewer of its threads.
// grid (ceil(n / 256)), block (256), dynamic shared 0

constexpr int kThreads = 256;

extern "C" __global__ void sum_shared_interleaved(const float *x, float *sums, int n)
{
    __shared__ float tree[kThreads];
    int t = threadIdx.x;
    int i = blockIdx.x * kThreads + t;
    tree[t] = i < n ? x[i] : 0.0f;
    for (int distance = 1; distance < kThreads; distance *= 2) {
        __syncthreads(); // the sums of the step before are there
        if (t % (2 * distance) == 0) {
            tree[t] += tree[t + distance];
        }
    }
    if (t == 0) {
        sums[blockIdx.x] = tree[0];
    }
}
