// The sum of n fp32 elements: *total += x[0] + ... + x[n - 1]. It is zero before the launch.
// Adds to sum_shared_interleaved.cu: the tree goes the other way round, 128 apart first, then 64.
// The threads that still add are always the first ones, so whole warps are done and skip the step.
// Limit: instructions and barriers. Eight steps for 256 elements, each with a barrier for all.
// grid (ceil(n / 256)), block (256), dynamic shared 0

constexpr int kThreads = 256;

extern "C" __global__ void sum_shared_sequential(const float *x, float *total, int n)
{
    __shared__ float sums[kThreads];
    int t = threadIdx.x;
    int i = blockIdx.x * kThreads + t;
    sums[t] = i < n ? x[i] : 0.0f;
    for (int distance = kThreads / 2; distance > 0; distance /= 2) {
        __syncthreads(); // the sums of the step before are there
        if (t < distance) {
            sums[t] += sums[t + distance];
        }
    }
    if (t == 0) {
        atomicAdd(total, sums[0]);
    }
}
