// The largest of each 2 x 2 pixels: `in` is planes x height x width, `out` planes x height / 2 x
// width / 2, fp32. A last odd row or column is left out.
// The idea: one thread computes one pixel of the output from four of the input.
// Limit: memory. Sixteen bytes are read and four written for three comparisons.
// At most 65,535 planes, the z of a grid.
// grid (ceil(width / 64), ceil(height / 16), planes), block (32, 8), dynamic shared 0

extern "C" __global__ void maxpool2x2(const float *in, float *out, int height, int width)
{
    int out_height = height / 2;
    int out_width = width / 2;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < out_height && column < out_width) {
        const float *top = &in[((size_t)blockIdx.z * height + 2 * row) * width + 2 * column];
        const float *bottom = top + width;
        float largest = fmaxf(fmaxf(top[0], top[1]), fmaxf(bottom[0], bottom[1]));
        out[((size_t)blockIdx.z * out_height + row) * out_width + column] = largest;
    }
}
