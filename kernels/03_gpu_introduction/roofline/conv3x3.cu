// A 3 x 3 convolution as neural networks have it: image (C, H, W), filters (F, C, 3, 3), out (F, H,
// W), all fp32 with at most 2 billion elements, F up to 65,535, zeros beyond the edges. One thread
// computes one element of the output.
// The idea: each element of the image is used 9 F times, each weight H W times; here all of that
// reuse is left to the caches.
// Limit: requests to L1. Two loads for each multiplication.
// grid (ceil(W / 32), ceil(H / 8), F), block (32, 8), dynamic shared 0

extern "C" __global__ void conv3x3(const float *image, const float *filters, float *out, int C,
                                   int H, int W)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int filter = blockIdx.z;
    if (row >= H || column >= W) {
        return;
    }
    float sum = 0.0f;
    for (int channel = 0; channel < C; ++channel) {
        const float *weights = filters + (filter * C + channel) * 9;
        for (int down = -1; down <= 1; ++down) {
            for (int right = -1; right <= 1; ++right) {
                int y = row + down;
                int x = column + right;
                bool inside = 0 <= y && y < H && 0 <= x && x < W;
                float value = inside ? image[(channel * H + y) * W + x] : 0.0f;
                sum += value * weights[(down + 1) * 3 + right + 1];
            }
        }
    }
    out[(filter * H + row) * W + column] = sum;
}
