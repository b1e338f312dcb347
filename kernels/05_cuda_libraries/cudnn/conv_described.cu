// y = x * w, with EPILOGUE 1 (the default) y = relu(x * w + bias): a convolution whose arguments
// are cuDNN's. A tensor comes with a description, eight ints: the extents of its axes N C H W, then
// their strides in elements. `how` is padding, stride, dilation and groups, the same for rows and
// columns. Any extents, any layout.
// The idea: a layout is four strides, so one kernel serves all; neighbouring threads take
// neighbours of y in memory. Limit: a pixel is loaded for each tap and filter, as in conv_direct.
// grid (ceil(elements of y / 256)), block (256), dynamic shared 0

#ifndef EPILOGUE
#define EPILOGUE 1
#endif

// Where an element lies in memory.
__device__ inline int place(const int *tensor, int n, int c, int h, int w)
{
    return n * tensor[4] + c * tensor[5] + h * tensor[6] + w * tensor[7];
}

extern "C" __global__ void conv_described(const float *x, const int *of_x, const float *w,
                                          const int *of_w, const float *bias, float *y,
                                          const int *of_y, const int *how)
{
    const int N = of_y[0], K = of_y[1], OH = of_y[2], OW = of_y[3];
    const int H = of_x[2], W = of_x[3];
    const int channels = of_w[1]; // of one group
    const int R = of_w[2], S = of_w[3];
    const int pad = how[0], stride = how[1], dilation = how[2], groups = how[3];
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= N * K * OH * OW) return;
    const bool channels_last = of_y[5] == 1 && K > 1;
    const int k = channels_last ? thread % K : thread / (OH * OW) % K;
    const int pixel = channels_last ? thread / K % (OH * OW) : thread % (OH * OW);
    const int n = thread / (OH * OW * K), oh = pixel / OW, ow = pixel % OW;
    const int first = k / (K / groups) * channels; // channel of x

    float sum = 0.0f;
    for (int c = 0; c < channels; ++c) {
        for (int r = 0; r < R; ++r) {
            for (int s = 0; s < S; ++s) {
                const int row = oh * stride - pad + r * dilation;
                const int column = ow * stride - pad + s * dilation;
                if (row >= 0 && row < H && column >= 0 && column < W) {
                    sum += x[place(of_x, n, first + c, row, column)] * w[place(of_w, k, c, r, s)];
                }
            }
        }
    }
    y[place(of_y, n, k, oh, ow)] = EPILOGUE ? fmaxf(sum + bias[k], 0.0f) : sum;
}
