// Darkens a colour image towards its corners, as an old lens does: height x width pixels of three
// fp32 numbers each (red, green, blue). strength 0 changes nothing, 1 makes the corners black.
// The idea: one thread computes one pixel, and its row and column are also the pixel's position.
// Limit: memory bandwidth. Twelve bytes are read and twelve written a pixel.
// Takes any shape of fewer than 2^31 numbers.
// grid (ceil(width / 16), ceil(height / 16)), block (16, 16), dynamic shared 0

extern "C" __global__ void image_vignette(const float *rgb, float *out, int height, int width,
                                          float strength)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < height && column < width) {
        float down = (row + 0.5f) / height - 0.5f; // from -0.5 at the top to 0.5 at the bottom
        float across = (column + 0.5f) / width - 0.5f;
        float light = 1.0f - 2.0f * strength * (down * down + across * across);

        int pixel = row * width + column;
        for (int channel = 0; channel < 3; ++channel) {
            out[3 * pixel + channel] = light * rgb[3 * pixel + channel];
        }
    }
}
