// dw[f][c] = the sum over all pixels of dy times the nine pixels of x around them, in fp32: x is
// N x C x H x W, dy is N x F x H x W and dw is F x C x 3 x 3.
// Takes any shape with fewer than 2^31 elements a tensor (indices are int) and at most 65535
// filters.
// One block computes the nine numbers of one filter and channel.
// grid (C, F), block 64, dynamic shared 0

#include "reduce.cuh"

constexpr int kThreads = 64;

extern "C" __global__ void conv_backward_weight(const float *x, const float *dy, float *dw, int N,
                                                int C, int H, int W, int F)
{
    int c = blockIdx.x;
    int f = blockIdx.y;
    float sum[9] = {};
    // TODO: add up into the thread's nine sums what its pixels contribute, over all images: the
    // gradient of a result times the pixel that a tap lay on, 0 outside the image
    // SOLUTION
    for (int place = threadIdx.x; place < H * W; place += kThreads) {
        int row = place / W;
        int column = place % W;
        for (int image = 0; image < N; ++image) {
            const float *plane = x + (image * C + c) * H * W;
            float gradient = dy[(image * F + f) * H * W + place];
#pragma unroll
            for (int tap = 0; tap < 9; ++tap) {
                int r = row + tap / 3 - 1;
                int s = column + tap % 3 - 1;
                bool inside = r >= 0 && r < H && s >= 0 && s < W;
                float value = plane[inside ? r * W + s : 0]; // outside, any pixel that exists
                sum[tap] += gradient * (inside ? value : 0.0f);
            }
        }
    }
    // END
#pragma unroll
    for (int tap = 0; tap < 9; ++tap) {
        float total = block_sum<kThreads>(sum[tap]);
        if (threadIdx.x == 0) {
            dw[(f * C + c) * 9 + tap] = total;
        }
        __syncthreads(); // the warps' sums have been read
    }
}
