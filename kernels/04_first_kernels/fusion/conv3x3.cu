// 3 x 3 convolution of images, with zeros around them: `in` is images x channels x height x width,
// `weights` filters x channels x 3 x 3, `out` images x filters x height x width, all fp32 (NCHW).
// The idea: one thread computes one pixel of one filter's output from 9 pixels of each channel.
// Limit: instructions and traffic. 9 loads with bounds checks for 9 FMAs, and `out` is written once.
// images * filters is at most 65,535, the most that a grid has in z; a plane has fewer than 2^31
// pixels.
// grid (ceil(width / 32), ceil(height / 8), images * filters), block (32, 8), dynamic shared 0

extern "C" __global__ void conv3x3(const float *in, const float *weights, float *out, int channels,
                                   int filters, int height, int width)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int filter = blockIdx.z % filters;
    int image = blockIdx.z / filters;
    if (row >= height || column >= width) {
        return;
    }
    float sum = 0.0f;
    for (int channel = 0; channel < channels; ++channel) {
        const float *plane = &in[(size_t)(image * channels + channel) * height * width];
        const float *w = &weights[(filter * channels + channel) * 9];
        for (int dy = -1; dy <= 1; ++dy) {
            for (int dx = -1; dx <= 1; ++dx) {
                int y = row + dy;
                int x = column + dx;
                bool inside = 0 <= y && y < height && 0 <= x && x < width;
                sum += inside ? plane[y * width + x] * w[(dy + 1) * 3 + dx + 1] : 0.0f;
            }
        }
    }
    out[((size_t)blockIdx.z * height + row) * width + column] = sum;
}
