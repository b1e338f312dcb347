// Sums of n fp32 elements, one for each block of 256: sums[b] = x[256 b] + ... + x[256 b + 255]. A
// launch on its own results, and another, leave one number: the sum of all.
// Adds to sum_shared_interleaved.cu: the tree in reverse order, 128 apart first, then 64.
// The threads that still add are always the first ones, so whole warps have nothing to add.
// Limit: latency, still. Eight steps for 256 elements, each as long as before, a barrier for all.
// grid (ceil(n / 256)), block (256), dynamic shared 0

constexpr int kThreads = 256;

extern "C" __global__ void sum_shared_sequential(const float *x, float *sums, int n)
{
    __shared__ float tree[kThreads];
    int t = threadIdx.x;
    int i = blockIdx.x * kThreads + t;
    tree[t] = i < n ? x[i] : 0.0f;
    for (int distance = kThreads / 2; distance > 0; distance /= 2) {
        __syncthreads(); // the sums of the step before are there
        if (t < distance) {
            tree[t] += tree[t + distance];
        }
    }
    if (t == 0) {
        sums[blockIdx.x] = tree[0];
    }
}
