// y = the sum of x along one axis, in fp32: x is outer x length x inner in C order, y is outer x
// inner. Any array and any of its axes is of that form: what lies before the axis is outer, what
// comes after it is inner. A sum of none (length 0) is 0.
// Takes any shape with fewer than 2^31 elements (indices are int).
// One warp makes one sum. Limit: along an axis that is not the last (inner > 1) the lanes read
// addresses that are inner floats apart, each in a sector of its own.
// grid (ceil(outer inner / 8)), block 256, dynamic shared 0

constexpr int kWarpSize = 32;

extern "C" __global__ void tensor_sum(const float *x, float *y, int outer, int length, int inner)
{
    int result = (blockIdx.x * blockDim.x + threadIdx.x) / kWarpSize;
    int lane = threadIdx.x % kWarpSize;
    if (result >= outer * inner) {
        return; // the whole warp
    }
    // TODO: the sum along the axis, each lane every 32nd element; one lane stores it
    // SOLUTION
    const float *first = x + result / inner * length * inner + result % inner;
    float sum = 0.0f;
    for (int k = lane; k < length; k += kWarpSize) {
        sum += first[k * inner];
    }
    for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, distance);
    }
    if (lane == 0) {
        y[result] = sum;
    }
    // END
}
