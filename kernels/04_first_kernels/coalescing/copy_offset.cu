// Copies n fp32 elements from `offset` on: y[i] = x[i + offset], as x[offset:] does.
// Adds to copy.cu: a warp's 128 bytes may begin in the middle of a sector, and then they lie in
// five sectors in place of four.
// Limit: bytes in flight, as in copy.cu. Whether the fifth sector costs time depends on the caches:
// the next warp wants it too.
// grid (ceil(n / 256)), block (256), dynamic shared 0

extern "C" __global__ void copy_offset(const float *x, float *y, int n, int offset)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = x[(size_t)i + offset];
    }
}
