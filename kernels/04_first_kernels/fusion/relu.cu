// x[i] = max(x[i], 0), in place, for n fp32 elements.
// The idea: the simplest activation function, in a pass of its own.
// Limit: bytes in flight, as in copy.cu. Eight bytes move for one comparison.
// grid (ceil(n / 256)), block (256), dynamic shared 0

extern "C" __global__ void relu(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] = fmaxf(x[i], 0.0f);
    }
}
