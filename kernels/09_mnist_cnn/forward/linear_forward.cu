// y = x w^T + b in fp32: x is N x I, w is O x I, b has O elements and y is N x O.
// Takes any shape with fewer than 2^31 elements a matrix (indices are int).
// A warp computes one element of y: its lanes read the two rows together, 32 neighbours at a time.
// grid (ceil(N O / 8)), block 256, dynamic shared 0

#include "reduce.cuh"

extern "C" __global__ void linear_forward(const float *x, const float *w, const float *b, float *y,
                                          int N, int I, int O)
{
    int result = blockIdx.x * (blockDim.x / kWarpSize) + threadIdx.x / kWarpSize;
    int lane = threadIdx.x % kWarpSize;
    if (result >= N * O) {
        return; // the whole warp
    }
    int n = result / O;
    int o = result % O;
    // TODO: the lanes add up the products of row n of x and row o of w, and one of them stores the sum,
    // with the bias
    // SOLUTION
    float sum = 0.0f;
    for (int i = lane; i < I; i += kWarpSize) {
        sum += x[n * I + i] * w[o * I + i];
    }
    sum = warp_sum(sum);
    if (lane == 0) {
        y[result] = sum + b[o];
    }
    // END
}
