// y[i] = a * x[i] + y[i] for n floats: the function that notebook 02/04 follows from C to SASS.
// Limit: memory bandwidth.
// grid (ceil(n / 256)), block (256), dynamic shared 0

extern "C" __global__ void axpy(float a, const float *x, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = a * x[i] + y[i];
    }
}
