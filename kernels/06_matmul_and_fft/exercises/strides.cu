// One warp stores a complex number a lane into shared memory, `stride` of them apart, and the
// lanes' numbers come back from there.
// grid 1, block 32, dynamic shared 0

extern "C" __global__ void strides(const float2* x, float2* y, int stride)
{
    __shared__ float2 shared[32 * 32];
    const int lane = threadIdx.x;
    shared[lane * stride] = x[lane];
    y[lane] = shared[lane * stride];
}
