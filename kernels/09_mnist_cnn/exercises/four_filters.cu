// y = x * w, a layer of 3 x 3 filters in fp32, as in conv_forward.cu: x is N x C x H x W, w is
// F x C x 3 x 3 and y is N x F x H x W. A pixel outside the image is 0.
// Takes any shape with fewer than 2^31 elements a tensor. One thread computes one pixel of the
// results of four filters, or of fewer in the last row of blocks.
// grid (ceil(N H W / 256), ceil(F / 4)), block 256, dynamic shared 0

constexpr int kFilters = 4; // of a thread

extern "C" __global__ void four_filters(const float *x, const float *w, float *y, int N, int C,
                                        int H, int W, int F)
{
    const int pixel = blockIdx.x * blockDim.x + threadIdx.x; // of all images
    const int first = blockIdx.y * kFilters;
    if (pixel >= N * H * W) {
        return;
    }
    const int image = pixel / (H * W);
    const int row = pixel / W % H;
    const int column = pixel % W;

    // TODO: this is right: one filter after the other. Each of them loads the same pixels again
    // STARTER
    //| for (int f = first; f < min(first + kFilters, F); ++f) {
    //|     float sum = 0.0f;
    //|     for (int c = 0; c < C; ++c) {
    //|         const float *plane = x + (image * C + c) * H * W;
    //|         const float *taps = w + (f * C + c) * 9;
    //|         for (int tap = 0; tap < 9; ++tap) {
    //|             const int r = row + tap / 3 - 1;
    //|             const int s = column + tap % 3 - 1;
    //|             const bool inside = r >= 0 && r < H && s >= 0 && s < W;
    //|             sum += inside ? plane[r * W + s] * taps[tap] : 0.0f;
    //|         }
    //|     }
    //|     y[((image * F + f) * H + row) * W + column] = sum;
    //| }
    // SOLUTION
    float sum[kFilters] = {};
    for (int c = 0; c < C; ++c) {
        const float *plane = x + (image * C + c) * H * W;
        for (int tap = 0; tap < 9; ++tap) {
            const int r = row + tap / 3 - 1;
            const int s = column + tap % 3 - 1;
            if (r < 0 || r >= H || s < 0 || s >= W) {
                continue;
            }
            const float value = plane[r * W + s];
#pragma unroll
            for (int k = 0; k < kFilters; ++k) {
                const int f = min(first + k, F - 1); // past the last one, any that exists
                sum[k] += value * w[(f * C + c) * 9 + tap];
            }
        }
    }
#pragma unroll
    for (int k = 0; k < kFilters; ++k) {
        if (first + k < F) {
            y[((image * F + first + k) * H + row) * W + column] = sum[k];
        }
    }
    // END
}
