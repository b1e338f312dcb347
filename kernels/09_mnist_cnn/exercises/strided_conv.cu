// y = a convolution of x with stride 2, and a bias, all fp32: x is N x C x H x W, w is F x C x 5 x 5,
// b has F elements, y is N x F x P x Q with P = (H + 1) / 2 and Q = (W + 1) / 2, rounded down, and
//     y[n][f][p][q] = b[f] + sum over c, r, s of x[n][c][2p + r - 2][2q + s - 2] w[f][c][r][s],
// r and s from 0 to 4. A pixel outside the image is 0.
// Takes any shape with fewer than 2^31 elements a tensor. A thread computes one element of y. The
// kernel is
//     extern "C" __global__ void strided_conv(const float *x, const float *w, const float *b,
//                                             float *y, int N, int C, int H, int W, int F)
// grid (ceil(N F P Q / 256)), block 256, dynamic shared 0

// TODO: the whole kernel
// SOLUTION
constexpr int kSide = 5;
constexpr int kStride = 2;

extern "C" __global__ void strided_conv(const float *x, const float *w, const float *b, float *y,
                                        int N, int C, int H, int W, int F)
{
    const int P = (H + 1) / kStride;
    const int Q = (W + 1) / kStride;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N * F * P * Q) {
        return;
    }
    const int image = i / (F * P * Q);
    const int filter = i / (P * Q) % F;
    const int top = i / Q % P * kStride - 2;
    const int left = i % Q * kStride - 2;

    float sum = b[filter];
    for (int c = 0; c < C; ++c) {
        const float *plane = x + (image * C + c) * H * W;
        const float *taps = w + (filter * C + c) * kSide * kSide;
        for (int r = max(0, -top); r < kSide && top + r < H; ++r) {
            for (int s = max(0, -left); s < kSide && left + s < W; ++s) {
                sum += plane[(top + r) * W + left + s] * taps[r * kSide + s];
            }
        }
    }
    y[i] = sum;
}
// END
