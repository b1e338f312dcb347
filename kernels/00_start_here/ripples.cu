// Two stones fall into a pond: image[row * width + column] is the height of the water there,
// height x width fp32 values between -2 and 2. `waves` sets how many rings there are.
// The idea: one thread computes one pixel, and no pixel needs to know another.
// Limit: arithmetic. Two distances and two cosines are computed for every four bytes written.
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
