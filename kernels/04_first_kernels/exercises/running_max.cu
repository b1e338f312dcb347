// The running maximum within each 32 elements: out[i] is the largest of x[i - i % 32] to x[i], for
// n floats without NaN. A warp takes 32 elements; the last one may have fewer.
// grid (ceil(n / 256)), block (256), dynamic shared 0

constexpr int kWarpSize = 32;
constexpr unsigned kWholeWarp = 0xffffffff;

extern "C" __global__ void running_max(const float *x, float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int lane = threadIdx.x % kWarpSize;
    float value = i < n ? x[i] : 0.0f; // past the end: no lane needs it

    // TODO: five shuffles up, by 1, 2, 4, 8 and 16 lanes: which lanes take over what they got?
    // SOLUTION
    for (int distance = 1; distance < kWarpSize; distance *= 2) {
        const float left = __shfl_up_sync(kWholeWarp, value, distance);
        if (lane >= distance) {
            value = fmaxf(left, value);
        }
    }
    // END
    if (i < n) {
        out[i] = value;
    }
}
