// dx = dy at the largest of each 2 x 2 pixels of x, 0 at the others, in fp32: x and dx are M planes
// of H x W, dy is M planes of H/2 x W/2, with even H and W. Of equal pixels the first one counts,
// as in PyTorch; NaN is larger than any number.
// Takes any such shape with fewer than 2^31 elements (indices are int).
// One thread takes an element of dy and writes four of dx.
// grid (ceil(M (H/2) (W/2) / 256)), block 256, dynamic shared 0

extern "C" __global__ void pool_backward(const float *x, const float *dy, float *dx, int M, int H,
                                         int W)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int rows = H / 2;
    int columns = W / 2;
    if (i >= M * rows * columns) {
        return;
    }
    int corner = (i / (rows * columns) * H + i / columns % rows * 2) * W + i % columns * 2;
    // TODO: find the largest of the four pixels, and store all four gradients: dy[i] for that one, 0
    // for the others
    // SOLUTION
    int winner = 0;
    float largest = x[corner];
#pragma unroll
    for (int k = 1; k < 4; ++k) {
        float value = x[corner + k / 2 * W + k % 2];
        bool larger = value > largest || isnan(value);
        largest = larger ? value : largest;
        winner = larger ? k : winner;
    }
    float gradient = dy[i];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        dx[corner + k / 2 * W + k % 2] = k == winner ? gradient : 0.0f;
    }
    // END
}
