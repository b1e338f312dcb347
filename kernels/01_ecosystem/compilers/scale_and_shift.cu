// y[i] = 2 x[i] + 1 for n floats.
// The idea: so little that its PTX and its machine code can be read to the end.
// Limit: memory bandwidth. Eight bytes move for each element.
// grid (ceil(n / 256)), block (256), dynamic shared 0

extern "C" __global__ void scale_and_shift(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = 2.0f * x[i] + 1.0f;
    }
}
