// dx = dy convolved with the filters rotated by 180 degrees, in fp32: dy is N x F x H x W, w is
// F x C x 3 x 3 and dx is N x C x H x W.
// Takes any shape with fewer than 2^31 elements a tensor (indices are int) and at most 65535
// channels.
// One thread computes one element of dx: 9 F products.
// grid (ceil(N H W / 256), C), block 256, dynamic shared 0

extern "C" __global__ void conv_backward_input(const float *dy, const float *w, float *dx, int N,
                                               int C, int H, int W, int F)
{
    int pixel = blockIdx.x * blockDim.x + threadIdx.x; // of all images
    int c = blockIdx.y;
    if (pixel >= N * H * W) {
        return;
    }
    int image = pixel / (H * W);
    int row = pixel / W % H;
    int column = pixel % W;

    // TODO: which results did this pixel go into, and by which of the nine weights? Add up their
    // gradients times those weights, over all filters, and store the sum
    // SOLUTION
    float sum = 0.0f;
    for (int f = 0; f < F; ++f) {
        const float *plane = dy + (image * F + f) * H * W;
        const float *taps = w + (f * C + c) * 9;
#pragma unroll
        for (int tap = 0; tap < 9; ++tap) {
            int r = row + 1 - tap / 3; // whose result this pixel went into, by this tap
            int s = column + 1 - tap % 3;
            bool inside = r >= 0 && r < H && s >= 0 && s < W;
            float value = plane[inside ? r * W + s : 0]; // outside, any that exists
            sum += (inside ? value : 0.0f) * taps[tap];
        }
    }
    dx[((image * C + c) * H + row) * W + column] = sum;
    // END
}
