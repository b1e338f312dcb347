// The sum of n fp32 elements: *total += x[0] + ... + x[n - 1]. It is zero before the launch.
// The idea: every thread adds its element to the result with an atomicAdd.
// Limit: contention: atomics on one address are serialised in the L2 cache. Their order is not
// fixed, so the last digits of the result change from run to run.
// grid (ceil(n / 256)), block (256), dynamic shared 0

extern "C" __global__ void sum_atomic(const float *x, float *total, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(total, x[i]);
    }
}
