// y = A x for a row-major fp32 matrix A of M x K: y[row] is the product of a row of A and x. One
// warp a row, any M and K.
// grid (ceil(M / 8)), block (256), dynamic shared 0

constexpr int kWarpSize = 32;
constexpr unsigned kWholeWarp = 0xffffffff;

extern "C" __global__ void gemv_by_warps(const float *A, const float *x, float *y, int M, int K)
{
    int lane = threadIdx.x % kWarpSize;
    int row = blockIdx.x * 8 + threadIdx.x / kWarpSize;
    if (row >= M) {
        return; // the whole warp
    }
    const float *values = A + (long long)row * K;
    // TODO: let the 32 lanes share the row, so that a load of theirs touches four neighbouring
    // sectors; combine their sums by shuffles, and store the result once
    // STARTER
    //| if (lane == 0) {
    //|     float sum = 0.0f;
    //|     for (int k = 0; k < K; ++k) {
    //|         sum += values[k] * x[k];
    //|     }
    //|     y[row] = sum;
    //| }
    // SOLUTION
    float sum = 0.0f;
    for (int k = lane; k < K; k += kWarpSize) {
        sum += values[k] * x[k];
    }
    for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(kWholeWarp, sum, distance);
    }
    if (lane == 0) {
        y[row] = sum;
    }
    // END
}
