// The dot product of two vectors of n floats: result[0] = x[0] y[0] + ... + x[n - 1] y[n - 1].
// result[0] is zero before the launch. Takes any n and any grid.
// grid (4), block (256), dynamic shared 0

constexpr int kWarpSize = 32;
constexpr unsigned kWholeWarp = 0xffffffff;

extern "C" __global__ void dot(const float *x, const float *y, float *result, int n)
{
    // 64 bits: i + stride may pass 2^31
    const long long first = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const long long stride = (long long)gridDim.x * blockDim.x;
    // TODO: add up in a variable of the thread's own first, then over the warp by shuffles; one
    // lane of each warp adds that to the result
    // STARTER
    //| for (long long i = first; i < n; i += stride) {
    //|     atomicAdd(result, x[i] * y[i]);
    //| }
    // SOLUTION
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
