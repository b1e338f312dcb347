// y[i] = x[i] after `steps` fused multiply-adds, for one fp32 number per thread.
// The idea: a chain. Each step needs the one before, so a warp must wait until its last step is
// done. Only other warps can hide that latency.
// Limit: with few warps the latency of an FMA, with many the rate at which they are issued.
// grid (any), block (any), dynamic shared 0

extern "C" __global__ void fma_chain(const float *x, float *y, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = x[i];
    for (int step = 0; step < steps; ++step) {
        value = value * 0.999f + 0.5f;
    }
    y[i] = value;
}
