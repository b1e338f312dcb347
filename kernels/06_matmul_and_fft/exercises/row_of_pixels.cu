// y = x * w for one filter of 3 x 3 over all channels: x is C x (H + 2) x (W + 2), zeros around
// each channel included, w is C x 3 x 3, and y is H x W. W is a multiple of 4.
// A thread computes four neighbours in a row of y.
// grid (ceil(H W / 4 / 128)), block 128, dynamic shared 0

constexpr int kEach = 4;

extern "C" __global__ void row_of_pixels(const float *x, const float *w, float *y, int C, int H,
                                         int W)
{
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * kEach; // the thread's first pixel of y
    if (first >= H * W) {
        return;
    }
    int row = first / W;
    int column = first % W;
    float sum[kEach] = {};
    for (int c = 0; c < C; ++c) {
        for (int r = 0; r < 3; ++r) {
            const float *pixels = x + (c * (H + 2) + row + r) * (W + 2) + column;
            const float *taps = w + (c * 3 + r) * 3;
            // TODO: add the three taps' products to the four sums. Read each of the pixels and taps
            //       that they need once, into registers
            // SOLUTION
            float in[kEach + 2], tap[3];
#pragma unroll
            for (int i = 0; i < kEach + 2; ++i) {
                in[i] = pixels[i];
            }
#pragma unroll
            for (int s = 0; s < 3; ++s) {
                tap[s] = taps[s];
            }
#pragma unroll
            for (int s = 0; s < 3; ++s) {
#pragma unroll
                for (int p = 0; p < kEach; ++p) {
                    sum[p] += in[p + s] * tap[s];
                }
            }
            // END
        }
    }
    for (int p = 0; p < kEach; ++p) {
        y[first + p] = sum[p];
    }
}
