// A blur by a separable filter: out[y][x] = the sum over i and j from -radius to radius of
// taps[radius + i] * taps[radius + j] * in[y + i][x + j], with each row and column outside taken to be
// the nearest one inside. in and out are height x width of fp32. taps has 2 radius + 1 numbers, which
// need not be symmetric, and radius is from 0 to 8. A block makes 32 x 32 pixels. The kernel is called
// soft_focus, is extern "C", and has the parameters const float *in, float *out, const float *taps,
// int width, int height, int radius.
// grid (ceil(width / 32), ceil(height / 32)), block (32, 8), dynamic shared 0

// TODO: the whole kernel
// SOLUTION
constexpr int kSide = 32, kMost = 8, kWide = kSide + 2 * kMost;

extern "C" __global__ void soft_focus(const float *in, float *out, const float *taps, int width,
                                      int height, int radius)
{
    __shared__ float tile[kWide][kWide]; // the block's pixels and radius more on each side
    __shared__ float rows[kWide][kSide]; // the same rows, filtered along x
    const int x0 = blockIdx.x * kSide, y0 = blockIdx.y * kSide;
    const int wide = kSide + 2 * radius;

    for (int y = threadIdx.y; y < wide; y += blockDim.y) {
        const int from_y = min(max(y0 + y - radius, 0), height - 1);
        for (int x = threadIdx.x; x < wide; x += blockDim.x) {
            const int from_x = min(max(x0 + x - radius, 0), width - 1);
            tile[y][x] = in[(size_t)from_y * width + from_x];
        }
    }
    __syncthreads();

    for (int y = threadIdx.y; y < wide; y += blockDim.y) {
        float sum = 0;
        for (int k = 0; k <= 2 * radius; ++k) {
            sum += taps[k] * tile[y][threadIdx.x + k];
        }
        rows[y][threadIdx.x] = sum;
    }
    __syncthreads();

    const int x = x0 + threadIdx.x;
    for (int y = threadIdx.y; y < kSide; y += blockDim.y) {
        float sum = 0;
        for (int k = 0; k <= 2 * radius; ++k) {
            sum += taps[k] * rows[y + k][threadIdx.x];
        }
        if (x < width && y0 + y < height) {
            out[(size_t)(y0 + y) * width + x] = sum;
        }
    }
}
// END
