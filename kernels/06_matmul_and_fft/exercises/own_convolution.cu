// y = x * w with stride 1 and zeros around each image, all fp32: x is N x C x H x W, w is
// F x C x 3 x 3, y is N x F x H x W, and
//     y[n][f][h][v] = sum over c, r, s of x[n][c][h + r - 1][v + s - 1] w[f][c][r][s].
// A block computes 16 x 16 pixels of one image and one filter, and gridDim.z is N F,
// which is at most 65,535.
// The kernel is called own_convolution, is extern "C", and has the parameters const float *x,
// const float *w, float *y, int C, int F, int H, int W.
// grid (ceil(W / 16), ceil(H / 16), N F), block (16, 16), dynamic shared 0

// TODO: the whole kernel
// SOLUTION
constexpr int kTile = 16;
constexpr int kHalo = kTile + 2;
constexpr int kTaps = 9;
constexpr int kThreads = kTile * kTile;

extern "C" __global__ void own_convolution(const float *x, const float *w, float *y, int C, int F,
                                           int H, int W)
{
    __shared__ float tile[kHalo][kHalo]; // of one channel
    __shared__ float taps[kTaps];
    const int thread = threadIdx.y * kTile + threadIdx.x;
    const int first_row = blockIdx.y * kTile, first_column = blockIdx.x * kTile;
    const int image = blockIdx.z / F, filter = blockIdx.z % F;

    float sum = 0.0f;
    for (int c = 0; c < C; ++c) {
        const float *channel = x + (size_t)(image * C + c) * H * W;
        for (int i = thread; i < kHalo * kHalo; i += kThreads) {
            const int h = first_row + i / kHalo - 1, v = first_column + i % kHalo - 1;
            const bool inside = h >= 0 && h < H && v >= 0 && v < W;
            tile[i / kHalo][i % kHalo] = inside ? channel[h * W + v] : 0.0f;
        }
        if (thread < kTaps) {
            taps[thread] = w[(filter * C + c) * kTaps + thread];
        }
        __syncthreads(); // the channel and its taps are there
        for (int r = 0; r < 3; ++r) {
            for (int s = 0; s < 3; ++s) {
                sum += tile[threadIdx.y + r][threadIdx.x + s] * taps[r * 3 + s];
            }
        }
        __syncthreads(); // all have used this channel
    }

    const int h = first_row + threadIdx.y, v = first_column + threadIdx.x;
    if (h < H && v < W) {
        y[((size_t)blockIdx.z * H + h) * W + v] = sum;
    }
}
// END
