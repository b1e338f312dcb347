// y = x * w, the convolution of a neural network in fp32: x is N x C x H x W, w is K x C x R x S
// and y is N x K x OH x OW; zeros lie `pad` deep around x. Any shape, filter, stride and padding
// with fewer than 2^31 elements a tensor (indices are int) and at most 65535 filters.
// The idea: one thread computes one element of y: C R S products.
// Limit: about one instruction in twenty is a product. Each product needs a pixel and a weight,
// loaded one at a time, and addresses and comparisons for them.
// grid (ceil(N OH OW / 256), K), block 256, dynamic shared 0

extern "C" __global__ void conv_direct(const float *x, const float *w, float *y, int N, int C,
                                       int H, int W, int K, int R, int S, int stride, int pad)
{
    int OH = (H + 2 * pad - R) / stride + 1;
    int OW = (W + 2 * pad - S) / stride + 1;
    int pixel = blockIdx.x * blockDim.x + threadIdx.x; // of all images
    int filter = blockIdx.y;
    if (pixel >= N * OH * OW) {
        return;
    }
    int image = pixel / (OH * OW);
    int place = pixel % (OH * OW); // in the image
    int top = place / OW * stride - pad;
    int left = place % OW * stride - pad;

    float sum = 0.0f;
    for (int c = 0; c < C; ++c) {
        const float *plane = x + (image * C + c) * H * W;
        const float *taps = w + (filter * C + c) * R * S;
        for (int r = 0; r < R; ++r) {
            for (int s = 0; s < S; ++s) {
                int row = top + r;
                int column = left + s;
                if (row >= 0 && row < H && column >= 0 && column < W) {
                    sum += plane[row * W + column] * taps[r * S + s];
                }
            }
        }
    }
    y[(image * K + filter) * OH * OW + place] = sum;
}
