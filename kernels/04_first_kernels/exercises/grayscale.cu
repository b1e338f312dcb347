// gray = 0.299 red + 0.587 green + 0.114 blue (the luma weights of Rec. ITU-R BT.601) for an image
// of height x width pixels; rgb holds three floats a pixel, row by row. Takes any height and width,
// as long as rgb has fewer than 2^31 floats.
// grid (ceil(width / 16), ceil(height / 16)) or more, block (16, 16), dynamic shared 0

extern "C" __global__ void grayscale(const float* rgb, float* gray, int height, int width)
{
    // TODO: find this thread's row (from y) and column (from x)
    // SOLUTION
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    // END

    // TODO: if the pixel lies inside the image, store its grey value; its red is rgb[3 * pixel]
    // SOLUTION
    if (row < height && column < width) {
        const int pixel = row * width + column;
        const float red = rgb[3 * pixel];
        const float green = rgb[3 * pixel + 1];
        const float blue = rgb[3 * pixel + 2];
        gray[pixel] = 0.299f * red + 0.587f * green + 0.114f * blue;
    }
    // END
}
