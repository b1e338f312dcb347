// y(t) = x(t) - x(t - 32) for many sequences at once; one thread walks along one of them. x and y
// are steps x sequences of fp32, at most 2 billion, and what lies before the beginning counts as 0.
// The idea: each thread keeps its last 32 values in an array of its own. UNROLLED 1 unrolls the
// inner loop: every index is a compile-time constant and the array is in registers. UNROLLED 0
// leaves it a loop: registers have no index, so the array has to be in local memory.
// Limit: memory bandwidth. With UNROLLED 0 the array adds as many loads and stores again, most of
// which L1 serves.
// grid (ceil(sequences / 128)), block (128), dynamic shared 0

#ifndef UNROLLED
#define UNROLLED 0
#endif
constexpr int kDelay = 32;

extern "C" __global__ void delay_line(const float *x, float *y, int steps, int sequences)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= sequences) {
        return;
    }
    float kept[kDelay];
#pragma unroll
    for (int k = 0; k < kDelay; ++k) {
        kept[k] = 0.0f;
    }
    for (int start = 0; start < steps; start += kDelay) {
#pragma unroll(UNROLLED ? kDelay : 1)
        for (int k = 0; k < kDelay; ++k) {
            int t = start + k;
            if (t < steps) {
                float now = x[t * sequences + i];
                y[t * sequences + i] = now - kept[k];
                kept[k] = now;
            }
        }
    }
}
