// Copies every stride-th fp32 element: y[i] = x[i * stride], n of them, as x[::stride] does.
// Adds to copy.cu: the threads of a warp read `stride` elements apart. Memory comes in sectors of
// eight elements, whether all eight are wanted or one.
// Limit: memory, for reading what nobody uses: from stride 8 on, seven of eight elements.
// grid (ceil(n / 256)), block (256), dynamic shared 0

extern "C" __global__ void copy_strided(const float *x, float *y, int n, int stride)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = x[(size_t)i * stride];
    }
}
