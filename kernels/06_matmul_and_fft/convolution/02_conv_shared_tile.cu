// y = x * w, a convolution of 3 x 3 in fp32, stride 1, padding 1: x is N x C x H x W, w is K x C x
// 3 x 3 and y is N x K x H x W. Any shape with fewer than 2^31 elements a tensor (indices are int),
// N K and H / 8 at most 65535.
// Adds to conv_direct: a block computes 32 x 8 neighbours of one filter. It copies the pixels they
// need, with a halo of one around them, to shared memory and reads each of them up to nine times
// there.
// Limit: a load for each product, now from shared memory; and 256 threads wait at two barriers for
// every nine products.
// grid (ceil(W / 32), ceil(H / 8), N K), block (32, 8), dynamic shared 0

constexpr int kWide = 32; // of y: the block's tile
constexpr int kHigh = 8;
constexpr int kHaloWide = kWide + 2; // of x: the pixels it needs
constexpr int kHaloHigh = kHigh + 2;
constexpr int kThreads = kWide * kHigh;

extern "C" __global__ void __launch_bounds__(kThreads)
    conv_shared_tile(const float *x, const float *w, float *y, int N, int C, int H, int W, int K)
{
    __shared__ float tile[kHaloHigh][kHaloWide];
    int image = blockIdx.z / K;
    int filter = blockIdx.z % K;
    int first_row = blockIdx.y * kHigh;
    int first_column = blockIdx.x * kWide;
    int thread = threadIdx.y * kWide + threadIdx.x;

    float sum = 0.0f;
    for (int c = 0; c < C; ++c) {
        const float *plane = x + (image * C + c) * H * W;
        for (int i = thread; i < kHaloHigh * kHaloWide; i += kThreads) {
            int row = first_row + i / kHaloWide - 1;
            int column = first_column + i % kHaloWide - 1;
            bool inside = row >= 0 && row < H && column >= 0 && column < W;
            tile[i / kHaloWide][i % kHaloWide] = inside ? plane[row * W + column] : 0.0f;
        }
        __syncthreads();
        const float *taps = w + (filter * C + c) * 9;
#pragma unroll
        for (int r = 0; r < 3; ++r) {
#pragma unroll
            for (int s = 0; s < 3; ++s) {
                sum += tile[threadIdx.y + r][threadIdx.x + s] * taps[r * 3 + s];
            }
        }
        __syncthreads(); // before the next channel overwrites the tile
    }
    int row = first_row + threadIdx.y;
    int column = first_column + threadIdx.x;
    if (row < H && column < W) {
        y[(blockIdx.z * H + row) * W + column] = sum;
    }
}
