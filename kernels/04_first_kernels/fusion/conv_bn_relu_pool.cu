// 3 x 3 convolution, batch normalisation, ReLU and 2 x 2 max-pooling in one: `in` is images x
// channels x height x width, `out` images x filters x height / 2 x width / 2, all fp32 (NCHW).
// Adds to conv3x3.cu, batchnorm.cu, relu.cu and maxpool2x2.cu: a thread computes the four pixels
// that its one output pixel needs and keeps them in registers. Only a quarter of the convolution's
// pixels is ever written, and none is read back.
// Limit: instructions. A thread loads 16 pixels of a channel for 36 FMAs.
// Takes images * filters up to 65,535, the z of a grid, and planes of fewer than 2^31 pixels.
// grid (ceil(width / 64), ceil(height / 16), images * filters), block (32, 8), dynamic shared 0

extern "C" __global__ void conv_bn_relu_pool(const float *in, const float *weights,
                                             const float *scale, const float *shift, float *out,
                                             int channels, int filters, int height, int width)
{
    int out_height = height / 2;
    int out_width = width / 2;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int filter = blockIdx.z % filters;
    int image = blockIdx.z / filters;
    if (row >= out_height || column >= out_width) {
        return;
    }
    float sum[2][2] = {};
    for (int channel = 0; channel < channels; ++channel) {
        const float *plane = &in[(size_t)(image * channels + channel) * height * width];
        const float *w = &weights[(filter * channels + channel) * 9];
        float patch[4][4]; // the pixels that four neighbouring results need
#pragma unroll
        for (int i = 0; i < 4; ++i) {
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                int y = 2 * row + i - 1;
                int x = 2 * column + j - 1;
                bool inside = 0 <= y && y < height && 0 <= x && x < width;
                patch[i][j] = inside ? plane[y * width + x] : 0.0f;
            }
        }
#pragma unroll
        for (int tap = 0; tap < 9; ++tap) {
#pragma unroll
            for (int pixel = 0; pixel < 4; ++pixel) {
                int y = pixel / 2;
                int x = pixel % 2;
                sum[y][x] += patch[y + tap / 3][x + tap % 3] * w[tap];
            }
        }
    }
    float largest = 0.0f; // ReLU: nothing below zero comes out
#pragma unroll
    for (int pixel = 0; pixel < 4; ++pixel) {
        largest = fmaxf(largest, scale[filter] * sum[pixel / 2][pixel % 2] + shift[filter]);
    }
    out[((size_t)blockIdx.z * out_height + row) * out_width + column] = largest;
}
