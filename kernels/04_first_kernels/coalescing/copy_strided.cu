// Copies every stride-th fp32 element: y[i] = x[i * stride], n of them, as x[::stride] does.
// Adds to copy.cu: the threads of a warp read `stride` elements apart. A request touches whole
// sectors of eight elements, whether all eight are wanted or one.
// Limit: from stride 8 on memory bandwidth, of which at most one part in eight is used in reading.
// grid (ceil(n / 256)), block (256), dynamic shared 0

extern "C" __global__ void copy_strided(const float *x, float *y, int n, int stride)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = x[(size_t)i * stride];
    }
}
