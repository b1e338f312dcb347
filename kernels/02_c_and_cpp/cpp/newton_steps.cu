// y[i] is the square root of x[i] > 0, by Newton's method, for n floats.
// A lambda, written where it is used, is handed to a function template: it captures x[i].
// Limit: arithmetic. Each step has a division.
// grid (ceil(n / 256)), block (256), dynamic shared 0

template <typename Step>
__device__ float repeat(int times, float start, Step step)
{
    float value = start;
    for (int k = 0; k < times; ++k) {
        value = step(value);
    }
    return value;
}

extern "C" __global__ void newton_steps(const float *x, float *y, int steps, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float wanted = x[i];
        const auto better = [wanted](float root) { return 0.5f * (root + wanted / root); };
        y[i] = repeat(steps, 1.0f + wanted, better);
    }
}
