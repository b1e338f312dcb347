// Vector addition: c[i] = a[i] + b[i] for n fp32 elements.
// The idea: one thread computes one element, and its global index says which. The last block
// reaches past the end where n is no multiple of the block size, so every thread checks first.
// Limit: memory. Twelve bytes move for each addition.
// grid (ceil(n / 256)), block (256), dynamic shared 0

extern "C" __global__ void vec_add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        c[i] = a[i] + b[i];
    }
}
