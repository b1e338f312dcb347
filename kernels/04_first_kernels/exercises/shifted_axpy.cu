// y[i] = a * x[i + shift] + y[i] for n floats; x has n + shift < 2^31 of them.
// grid ceil(n / 256), block 256, dynamic shared 0

extern "C" __global__ void shifted_axpy(float a, const float* x, float* y, int shift, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = a * x[i + shift] + y[i];
    }
}
