// picture[row][column] = the largest of volume[layer][row][column] over all layers: a maximum
// projection, as radiologists look at scans. volume is (layers, rows, columns), layers >= 1.
// grid (g, g) with g = ceil(max(rows, columns) / 16) or more, block (16, 16), dynamic shared 0

extern "C" __global__ void projection(
    const float* volume, float* picture, int layers, int rows, int columns)
{
    // TODO: this kernel is right. Make it faster: have each warp touch fewer sectors, and each
    // thread load one number for each layer and store one in all.
    // STARTER
    //| const int row = blockIdx.x * blockDim.x + threadIdx.x;
    //| const int column = blockIdx.y * blockDim.y + threadIdx.y;
    //| if (row < rows && column < columns) {
    //|     const int pixel = row * columns + column;
    //|     picture[pixel] = volume[pixel];
    //|     for (int layer = 1; layer < layers; ++layer) {
    //|         const int voxel = layer * rows * columns + pixel;
    //|         picture[pixel] = fmaxf(picture[pixel], volume[voxel]);
    //|     }
    //| }
    // SOLUTION
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows && column < columns) {
        const int pixel = row * columns + column;
        float largest = volume[pixel];
        for (int layer = 1; layer < layers; ++layer) {
            largest = fmaxf(largest, volume[layer * rows * columns + pixel]);
        }
        picture[pixel] = largest;
    }
    // END
}
