// First link of a chain of four: y[i] = scale * x[i] + shift, for n fp32 elements.
// The idea: a link of its own is easy to write and to reuse, and makes a pass over memory.
// Limit: bytes in flight, as in copy.cu. Eight bytes move for one FMA.
// grid (ceil(n / 256)), block (256), dynamic shared 0

extern "C" __global__ void chain_affine(const float *x, float *y, float scale, float shift, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = scale * x[i] + shift;
    }
}
