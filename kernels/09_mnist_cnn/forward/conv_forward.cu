// y = x * w, a layer of 3 x 3 filters in fp32: x is N x C x H x W, w is F x C x 3 x 3 and y is
// N x F x H x W. One row of zeros lies around each image, so that y is as large as x.
// Takes any shape with fewer than 2^31 elements a tensor (indices are int) and at most 65535
// filters.
// One thread computes one element of y: 9 C products.
// grid (ceil(N H W / 256), F), block 256, dynamic shared 0

extern "C" __global__ void conv_forward(const float *x, const float *w, float *y, int N, int C,
                                        int H, int W, int F)
{
    int pixel = blockIdx.x * blockDim.x + threadIdx.x; // of all images
    int filter = blockIdx.y;
    if (pixel >= N * H * W) {
        return;
    }
    int image = pixel / (H * W);
    int row = pixel / W % H;
    int column = pixel % W;

    // TODO: add up 9 products for each of the C channels, with 0 for a pixel outside the image, and
    // store the sum
    // SOLUTION
    float sum = 0.0f;
    for (int c = 0; c < C; ++c) {
        const float *plane = x + (image * C + c) * H * W;
        const float *taps = w + (filter * C + c) * 9;
#pragma unroll
        for (int tap = 0; tap < 9; ++tap) {
            int r = row + tap / 3 - 1;
            int s = column + tap % 3 - 1;
            bool inside = r >= 0 && r < H && s >= 0 && s < W;
            float value = plane[inside ? r * W + s : 0]; // outside, any pixel that exists
            sum += (inside ? value : 0.0f) * taps[tap];
        }
    }
    y[((image * F + filter) * H + row) * W + column] = sum;
    // END
}
