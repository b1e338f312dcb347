// y[i] = x[stride * i], by one warp.
// grid 1, block 32, dynamic shared 0

extern "C" __global__ void strided_read(const float* x, float* y, int stride)
{
    const int i = threadIdx.x;
    y[i] = x[stride * i];
}
