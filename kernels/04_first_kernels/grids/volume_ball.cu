// Fills a volume of layers x rows x columns fp32 elements with a glowing ball: 1 in the middle of
// the volume, fading to 0 at `radius` elements from it.
// Adds to the two-dimensional kernels: a third index, the layer, from z.
// Limit: memory bandwidth. Four bytes are written for each of fewer than 2^31 elements.
// grid (ceil(columns / 8), ceil(rows / 8), ceil(layers / 4)), block (8, 8, 4), dynamic shared 0

extern "C" __global__ void volume_ball(float *volume, int layers, int rows, int columns,
                                       float radius)
{
    int layer = blockIdx.z * blockDim.z + threadIdx.z;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (layer < layers && row < rows && column < columns) {
        float z = layer - 0.5f * (layers - 1); // counted from the middle
        float y = row - 0.5f * (rows - 1);
        float x = column - 0.5f * (columns - 1);
        float distance = sqrtf(x * x + y * y + z * z);
        volume[(layer * rows + row) * columns + column] = fmaxf(0.0f, 1.0f - distance / radius);
    }
}
