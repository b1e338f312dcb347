// The sums from which mean and variance of any 3 x 3 filter over an image follow, in fp32: S[t] is
// the sum, over all positions of the filter, of the pixel under its tap t. G[t][s] is the sum of
// the products of the pixels under taps t and s. x is H x W with zeros around it, the filter's middle
// is on each of its pixels, and tap 0 is one row above and one column to the left of the middle.
// Takes any shape with fewer than 2^31 pixels (indices are int). Block t makes S[t] and G[t].
// grid (9), block 64, dynamic shared 0

#include "reduce.cuh"

constexpr int kThreads = 64;
constexpr int kTaps = 9;

extern "C" __global__ void patch_moments(const float *x, float *S, float *G, int H, int W)
{
    int t = blockIdx.x;
    float sum = 0.0f;
    float products[kTaps] = {};
    // TODO: share out the filter's positions among the threads of the block. Add up in `sum` the
    //       pixel under tap t, and in products[s] its product with the pixel under tap s
    // SOLUTION
    for (int place = threadIdx.x; place < H * W; place += kThreads) {
        int row = place / W;
        int column = place % W;
        float own = 0.0f;
        float under[kTaps];
#pragma unroll
        for (int s = 0; s < kTaps; ++s) {
            int r = row + s / 3 - 1;
            int c = column + s % 3 - 1;
            bool inside = r >= 0 && r < H && c >= 0 && c < W;
            float value = x[inside ? r * W + c : 0]; // outside, any pixel that exists
            under[s] = inside ? value : 0.0f;
            own = s == t ? under[s] : own;
        }
        sum += own;
#pragma unroll
        for (int s = 0; s < kTaps; ++s) {
            products[s] += own * under[s];
        }
    }
    // END
    sum = block_sum<kThreads>(sum);
    if (threadIdx.x == 0) {
        S[t] = sum;
    }
#pragma unroll
    for (int s = 0; s < kTaps; ++s) {
        __syncthreads(); // the warps' sums have been read
        float total = block_sum<kThreads>(products[s]);
        if (threadIdx.x == 0) {
            G[t * kTaps + s] = total;
        }
    }
}
