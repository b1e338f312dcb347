// The running sums of each block's 256 elements of n fp32: out[i] = x[256 b] + ... + x[i], and the
// block's own sum in sums[b].
// The idea: with a distance that doubles, every thread adds what stands that far to its left.
// Limit: 8 steps, each with two barriers, and 8 additions for each element where a loop needs one.
// grid (ceil(n / 256)), block (256), dynamic shared 0

constexpr int kThreads = 256;

extern "C" __global__ void scan_hillis_steele(const float *x, float *out, float *sums, int n)
{
    __shared__ float upto[kThreads];
    const int t = threadIdx.x;
    const int i = blockIdx.x * kThreads + t;
    upto[t] = i < n ? x[i] : 0.0f;
    for (int distance = 1; distance < kThreads; distance *= 2) {
        __syncthreads(); // the sums of the step before are there
        const float left = t >= distance ? upto[t - distance] : 0.0f;
        __syncthreads(); // all have read: now they may be overwritten
        upto[t] += left;
    }
    if (i < n) {
        out[i] = upto[t];
    }
    if (t == kThreads - 1) {
        sums[blockIdx.x] = upto[t];
    }
}
