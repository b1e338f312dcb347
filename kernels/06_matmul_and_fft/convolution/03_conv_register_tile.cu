// y = x * w, a convolution of 3 x 3 in fp32, stride 1, padding 1: x is N x C x H x W, w is K x C x
// 3 x 3 and y is N x K x H x W. Any shape with fewer than 2^31 elements a tensor (indices are int),
// N K / 8 and H / 16 at most 65535.
// Adds to conv_shared_tile: a thread computes four pixels, one below the other, for eight filters.
// For each channel it reads 18 pixels and 72 weights, four at a time, and makes 288 products of
// them.
// Limit: tiles of 32 x 16 that stick out of the image; and a block loads nothing while it
// multiplies.
// grid (ceil(W / 32), ceil(H / 16), N ceil(K / 8)), block (32, 4), dynamic shared 0

constexpr int TF = 8; // of y: filters of a thread
constexpr int TP = 4; // and pixels, one below the other
constexpr int CC = 4; // channels of a step
constexpr int kWide = 32;
constexpr int kHigh = 4 * TP;
constexpr int kHaloWide = kWide + 2;
constexpr int kHaloHigh = kHigh + 2;
constexpr int kThreads = 128;

extern "C" __global__ void __launch_bounds__(kThreads)
    conv_register_tile(const float *x, const float *w, float *y, int N, int C, int H, int W, int K)
{
    __shared__ float tile[CC][kHaloHigh][kHaloWide];
    __shared__ __align__(16) float taps[CC][9][TF];
    int groups = (K + TF - 1) / TF; // of filters
    int image = blockIdx.z / groups;
    int first_filter = blockIdx.z % groups * TF;
    int first_row = blockIdx.y * kHigh;
    int first_column = blockIdx.x * kWide;
    int thread = threadIdx.y * kWide + threadIdx.x;
    int below = threadIdx.y * TP; // the thread's first row in the tile

    float sum[TF][TP] = {};
    for (int first_channel = 0; first_channel < C; first_channel += CC) {
        for (int i = thread; i < CC * kHaloHigh * kHaloWide; i += kThreads) {
            int c = i / (kHaloHigh * kHaloWide);
            int place = i % (kHaloHigh * kHaloWide);
            int row = first_row + place / kHaloWide - 1;
            int column = first_column + place % kHaloWide - 1;
            bool inside = first_channel + c < C && row >= 0 && row < H && column >= 0 && column < W;
            tile[c][place / kHaloWide][place % kHaloWide] =
                inside ? x[((image * C + first_channel + c) * H + row) * W + column] : 0.0f;
        }
        for (int i = thread; i < CC * 9 * TF; i += kThreads) {
            int f = i / (CC * 9);
            int c = i / 9 % CC;
            bool exists = first_filter + f < K && first_channel + c < C;
            taps[c][i % 9][f] =
                exists ? w[((first_filter + f) * C + first_channel + c) * 9 + i % 9] : 0.0f;
        }
        __syncthreads();
#pragma unroll 1
        for (int c = 0; c < CC; ++c) {
            float in[TP + 2][3];
#pragma unroll
            for (int i = 0; i < TP + 2; ++i) {
#pragma unroll
                for (int s = 0; s < 3; ++s) {
                    in[i][s] = tile[c][below + i][threadIdx.x + s];
                }
            }
#pragma unroll
            for (int tap = 0; tap < 9; ++tap) {
                float weight[TF];
#pragma unroll
                for (int f = 0; f < TF; f += 4) {
                    *reinterpret_cast<float4 *>(&weight[f]) =
                        *reinterpret_cast<float4 *>(&taps[c][tap][f]);
                }
#pragma unroll
                for (int f = 0; f < TF; ++f) {
#pragma unroll
                    for (int p = 0; p < TP; ++p) {
                        sum[f][p] += in[p + tap / 3][tap % 3] * weight[f];
                    }
                }
            }
        }
        __syncthreads(); // before the next step overwrites the tiles
    }
    int column = first_column + threadIdx.x;
#pragma unroll
    for (int f = 0; f < TF; ++f) {
#pragma unroll
        for (int p = 0; p < TP; ++p) {
            int row = first_row + below + p;
            if (first_filter + f < K && row < H && column < W) {
                y[((image * K + first_filter + f) * H + row) * W + column] = sum[f][p];
            }
        }
    }
}
