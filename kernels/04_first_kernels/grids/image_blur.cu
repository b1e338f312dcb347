// Blurs a grey image of height x width fp32 pixels: each pixel becomes the mean of its neighbours
// up to `radius` rows and columns away.
// Adds to image_vignette.cu: a thread reads elements that are not its own, and at the edges of the
// picture some of them do not exist. Those are left out of the mean.
// Limit: loads, up to (2 radius + 1)^2 of them a thread. Takes any shape below 2^31 pixels.
// grid (ceil(width / 16), ceil(height / 16)), block (16, 16), dynamic shared 0

extern "C" __global__ void image_blur(const float *grey, float *out, int height, int width,
                                      int radius)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < height && column < width) {
        float sum = 0.0f;
        int count = 0;
        for (int r = row - radius; r <= row + radius; ++r) {
            for (int c = column - radius; c <= column + radius; ++c) {
                if (r >= 0 && r < height && c >= 0 && c < width) {
                    sum += grey[r * width + c];
                    count += 1;
                }
            }
        }
        out[row * width + column] = sum / count;
    }
}
