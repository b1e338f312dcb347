// Image k of y is image k of x, moved down[k] rows down and right[k] columns to the right (up and
// to the left where they are negative); where nothing comes in, y is 0. x and y are N x H x W in
// fp32. Takes any shape with fewer than 2^31 pixels, and shifts of any size up to 1,000,000.
// grid (ceil(N H W / 256)), block 256, dynamic shared 0

extern "C" __global__ void shift_images(const float *x, float *y, const int *down, const int *right,
                                        int N, int H, int W)
{
    // TODO: one thread for each pixel of y: which pixel of x is moved here?
    // SOLUTION
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N * H * W) {
        const int image = i / (H * W);
        const int row = i / W % H - down[image];
        const int column = i % W - right[image];
        const bool inside = row >= 0 && row < H && column >= 0 && column < W;
        y[i] = inside ? x[(image * H + row) * W + column] : 0.0f;
    }
    // END
}
