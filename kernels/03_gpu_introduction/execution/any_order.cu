// y[i] = 2 x[i] for n fp32 elements; the block that is launched as number k does the work of block
// order[k].
// The idea: blocks are independent, so any order gives the same result.
// Limit: memory bandwidth. Eight bytes move for one operation.
// grid (ceil(n / 256)), block (256), dynamic shared 0

extern "C" __global__ void any_order(const int *order, const float *x, float *y, int n)
{
    int block = order[blockIdx.x];
    int i = block * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = 2.0f * x[i];
    }
}
