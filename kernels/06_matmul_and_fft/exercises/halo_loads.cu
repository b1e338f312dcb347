// One block fills its tile and the halo of one pixel around it with pixels of x, and stores the
// tile's inner pixels in y. `shape` chooses the tile's rows and columns. x is 34 x 36 pixels.
// grid 1, block 256, dynamic shared 0

constexpr int kRow = 36; // pixels in a row of x

template <int kRows, int kColumns>
__device__ void fill(const float *x, float *y)
{
    __shared__ float tile[kRows + 2][kColumns + 2];
    for (int i = threadIdx.x; i < (kRows + 2) * (kColumns + 2); i += blockDim.x) {
        const int row = i / (kColumns + 2), column = i % (kColumns + 2);
        tile[row][column] = x[row * kRow + column];
    }
    __syncthreads(); // the tile is complete
    for (int i = threadIdx.x; i < kRows * kColumns; i += blockDim.x) {
        y[i] = tile[i / kColumns + 1][i % kColumns + 1];
    }
}

extern "C" __global__ void halo_loads(const float *x, float *y, int shape)
{
    if (shape == 1) {
        fill<8, 8>(x, y);
    } else if (shape == 2) {
        fill<16, 16>(x, y);
    } else if (shape == 3) {
        fill<8, 32>(x, y);
    } else {
        fill<16, 32>(x, y);
    }
}
