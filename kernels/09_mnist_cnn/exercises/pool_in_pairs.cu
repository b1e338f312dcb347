// dx = dy at the largest of each 2 x 2 pixels of x, 0 at the others, in fp32: x and dx are M planes
// of H x W, dy is M planes of H/2 x W/2, with even H and W. Of equal pixels the first one counts.
// Takes any such shape with fewer than 2^31 elements, without NaN. x and dx begin at a multiple of 8
// bytes. One thread takes an element of dy and writes four of dx.
// grid (ceil(M (H/2) (W/2) / 256)), block 256, dynamic shared 0

extern "C" __global__ void pool_in_pairs(const float *x, const float *dy, float *dx, int M, int H,
                                         int W)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int rows = H / 2;
    const int columns = W / 2;
    if (i >= M * rows * columns) {
        return;
    }
    const int corner = (i / (rows * columns) * H + i / columns % rows * 2) * W + i % columns * 2;
    // TODO: this is right: four loads and four stores of 4 bytes. Neighbouring threads are 8 bytes
    // apart in each of them
    // STARTER
    //| int winner = 0;
    //| for (int k = 1; k < 4; ++k) {
    //|     const float best = x[corner + winner / 2 * W + winner % 2];
    //|     winner = x[corner + k / 2 * W + k % 2] > best ? k : winner;
    //| }
    //| for (int k = 0; k < 4; ++k) {
    //|     dx[corner + k / 2 * W + k % 2] = k == winner ? dy[i] : 0.0f;
    //| }
    // SOLUTION
    const float2 upper = *(const float2 *)(x + corner);
    const float2 lower = *(const float2 *)(x + corner + W);
    const float largest = fmaxf(fmaxf(upper.x, upper.y), fmaxf(lower.x, lower.y));
    const float gradient = dy[i];
    float2 first = {0.0f, 0.0f};
    float2 second = {0.0f, 0.0f};
    if (upper.x == largest) {
        first.x = gradient;
    } else if (upper.y == largest) {
        first.y = gradient;
    } else if (lower.x == largest) {
        second.x = gradient;
    } else {
        second.y = gradient;
    }
    *(float2 *)(dx + corner) = first;
    *(float2 *)(dx + corner + W) = second;
    // END
}
