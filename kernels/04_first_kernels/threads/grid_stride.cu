// Vector addition: c[i] = a[i] + b[i] for n fp32 elements, with a grid of any size.
// Adds to vec_add.cu: each thread does several elements, one whole grid apart. The loop's
// condition is the bounds guard.
// Limit: memory, as before. Twelve bytes move for each addition. n + stride is below 2^31.
// grid (64), block (256), dynamic shared 0

extern "C" __global__ void grid_stride(const float *a, const float *b, float *c, int n)
{
    int first = blockIdx.x * blockDim.x + threadIdx.x;
    int stride = gridDim.x * blockDim.x;
    for (int i = first; i < n; i += stride) {
        c[i] = a[i] + b[i];
    }
}
