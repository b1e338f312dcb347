// Two stones fall into a pond: image, height x width fp32 and fewer than 2^31 of them, is how high
// the water stands there, between -2 and 2. `waves` sets how many rings there are.
// The idea: one thread computes one pixel, and no pixel needs to know another.
// Limit: arithmetic. Two distances and two cosines for every four bytes that are stored.
// grid (ceil(width * height / 256)), block (256), dynamic shared 0

extern "C" __global__ void ripples(float *image, int width, int height, float waves)
{
    int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel < width * height) {
        float x = pixel % width;
        float y = pixel / width;
        float left = hypotf(x - 0.3f * width, y - 0.5f * height);
        float right = hypotf(x - 0.7f * width, y - 0.5f * height);
        image[pixel] = cosf(waves * left / width) + cosf(waves * right / width);
    }
}
