// The dot product of two vectors of n floats: result[0] = x[0] y[0] + ... + x[n - 1] y[n - 1].
// result[0] is zero before the launch. Takes any n and any grid.
// grid (4), block (256), dynamic shared 0

constexpr int kWarpSize = 32;
constexpr unsigned kWholeWarp = 0xffffffff;

extern "C" __global__ void dot(const float *x, const float *y, float *result, int n)
{
    // TODO: in registers first, then over the warp, then one atomic a warp
    // SOLUTION
    // 64 bits: i + stride may pass 2^31
    const long long first = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const long long stride = (long long)gridDim.x * blockDim.x;
    float sum = 0.0f;
    for (long long i = first; i < n; i += stride) {
        sum += x[i] * y[i];
    }
    for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(kWholeWarp, sum, distance);
    }
    if (threadIdx.x % kWarpSize == 0) {
        atomicAdd(result, sum);
    }
    // END
}
