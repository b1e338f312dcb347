// The largest element of each warp's 32: largest[w] = max(x[32 w], ..., x[32 w + 31]), for n floats.
// largest has room for ceil(n / 32) of them.
// grid (ceil(n / 256)), block (256), dynamic shared 0

constexpr int kWarpSize = 32;
constexpr unsigned kWholeWarp = 0xffffffff;

extern "C" __global__ void warp_max(const float *x, float *largest, int n)
{
    const float infinity = __int_as_float(0x7f800000); // the bits of +infinity
    // TODO: one load a thread, then five steps with a shuffle each; no shared memory
    // SOLUTION
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int lane = threadIdx.x % kWarpSize;
    float value = i < n ? x[i] : -infinity;

    for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
        value = fmaxf(value, __shfl_down_sync(kWholeWarp, value, distance));
    }
    if (lane == 0 && i < n) {
        largest[i / kWarpSize] = value;
    }
    // END
}
