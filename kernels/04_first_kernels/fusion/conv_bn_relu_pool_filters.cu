// 3 x 3 convolution, batch normalisation, ReLU and 2 x 2 max-pooling in one: `in` is images x
// channels x height x width, `out` images x filters x height / 2 x width / 2, all fp32 (NCHW).
// Adds to conv_bn_relu_pool.cu: filters come in groups of eight, and a thread computes its output
// pixel for a whole group. The 16 pixels of a channel are loaded once for 288 FMAs in place of 36.
// Limit: instructions. A loaded weight serves four FMAs.
// Takes images * groups up to 65,535, the z of a grid, and planes of fewer than 2^31 pixels.
// grid (ceil(width / 64), ceil(height / 16), images * groups), block (32, 8), dynamic shared 0

constexpr int kFilters = 8; // of one thread
constexpr int kTaps = 9;

extern "C" __global__ void conv_bn_relu_pool_filters(const float *in, const float *weights,
                                                     const float *scale, const float *shift,
                                                     float *out, int channels, int filters,
                                                     int height, int width)
{
    int out_height = height / 2;
    int out_width = width / 2;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int groups = (filters + kFilters - 1) / kFilters;
    int first = blockIdx.z % groups * kFilters; // of the filters
    int image = blockIdx.z / groups;
    if (row >= out_height || column >= out_width) {
        return;
    }
    float sum[kFilters][4] = {};
    for (int channel = 0; channel < channels; ++channel) {
        const float *plane = &in[(size_t)(image * channels + channel) * height * width];
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
        for (int f = 0; f < kFilters; ++f) {
            int filter = min(first + f, filters - 1); // one that exists, whatever comes of it
            const float *w = &weights[(filter * channels + channel) * kTaps];
#pragma unroll
            for (int tap = 0; tap < kTaps; ++tap) {
#pragma unroll
                for (int pixel = 0; pixel < 4; ++pixel) {
                    float value = patch[pixel / 2 + tap / 3][pixel % 2 + tap % 3];
                    sum[f][pixel] += value * w[tap];
                }
            }
        }
    }
#pragma unroll
    for (int f = 0; f < kFilters; ++f) {
        int filter = first + f;
        if (filter < filters) {
            float largest = 0.0f; // ReLU: nothing below zero comes out
#pragma unroll
            for (int pixel = 0; pixel < 4; ++pixel) {
                largest = fmaxf(largest, scale[filter] * sum[f][pixel] + shift[filter]);
            }
            size_t plane = (size_t)image * filters + filter;
            out[(plane * out_height + row) * out_width + column] = largest;
        }
    }
}
