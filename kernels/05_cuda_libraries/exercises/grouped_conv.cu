// y = leaky_relu(x * w + bias + z) for N images with channels last: x is (N, H, W, C), y and z are
// (N, OH, OW, K). Filters are 3 x 3 and stored as w (K, 3, 3, C / groups): the channels are shared
// out over the groups, and so are the filters, in order. A filter sees the channels of its group
// alone. Its taps lie `dilation` pixels apart, so many zeros lie around an image, and it moves
// `stride` pixels from one result to the next: OH = (H - 1) / stride + 1, and so is OW of W. The
// leaky ReLU divides what is below 0 by 8. Each array has fewer than 2^31 elements.
// grid (ceil(N OH OW K / 128)), block 128, dynamic shared 0

extern "C" __global__ void grouped_conv(const float *x, const float *w, const float *bias,
                                        const float *z, float *y, int N, int C, int H, int W, int K,
                                        int groups, int stride, int dilation)
{
    const int OH = (H - 1) / stride + 1;
    const int OW = (W - 1) / stride + 1;
    const int i = blockIdx.x * blockDim.x + threadIdx.x; // of y
    // TODO: store y[i], where there is one
    // SOLUTION
    if (i >= N * OH * OW * K) return;
    const int k = i % K;
    const int ow = i / K % OW, oh = i / K / OW % OH, n = i / K / OW / OH;
    const int channels = C / groups;
    const int group = k / (K / groups);
    float sum = bias[k] + z[i];
    for (int r = 0; r < 3; ++r) {
        for (int s = 0; s < 3; ++s) {
            const int row = oh * stride + (r - 1) * dilation;
            const int column = ow * stride + (s - 1) * dilation;
            if (row < 0 || row >= H || column < 0 || column >= W) continue;
            const float *pixel = x + ((n * H + row) * W + column) * C + group * channels;
            const float *taps = w + ((k * 3 + r) * 3 + s) * channels;
            for (int c = 0; c < channels; ++c) sum += pixel[c] * taps[c];
        }
    }
    y[i] = sum > 0.0f ? sum : sum / 8.0f;
    // END
}
