// The gradient of a 3 x 3 convolution by its input: dy is N x F x H x W, w is F x C x 3 x 3, dx is
// N x C x H x W. Forwards, the result at (r, s) took tap (i, j) of the filter times the pixel at
// (r + i - 1, s + j - 1), where there is one. dx comes with anything in it.
void conv_backward_input(const float *dy, const float *w, float *dx, int N, int C, int H, int W,
                         int F)
{
    // TODO: which results did pixel (row, column) of channel c go into, and by which taps?
    // STARTER
    //| (void)dy, (void)w, (void)dx, (void)N, (void)C, (void)H, (void)W, (void)F; // take this out
    // SOLUTION
    for (int place = 0; place < N * C * H * W; ++place) {
        const int n = place / (C * H * W), c = place / (H * W) % C;
        const int row = place / W % H, column = place % W;
        float sum = 0.0f;
        for (int f = 0; f < F; ++f) {
            for (int i = 0; i < 3; ++i) {
                for (int j = 0; j < 3; ++j) {
                    const int r = row + 1 - i, s = column + 1 - j; // the result that took tap i, j
                    if (r < 0 || r >= H || s < 0 || s >= W) continue;
                    sum += dy[((n * F + f) * H + r) * W + s] * w[((f * C + c) * 3 + i) * 3 + j];
                }
            }
        }
        dx[place] = sum;
    }
    // END
}
