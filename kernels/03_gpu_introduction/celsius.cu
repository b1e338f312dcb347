// y[i] = (x[i] - 32) * 5 / 9: n fp32 temperatures from Fahrenheit to Celsius. Takes any n.
// The idea: the body of a loop becomes a kernel, and the loop over i becomes n threads.
// Limit: memory bandwidth. Eight bytes move for two operations.
// grid (ceil(n / 256)), block (256), dynamic shared 0

extern "C" __global__ void celsius(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = (x[i] - 32.0f) * (5.0f / 9.0f);
    }
}
