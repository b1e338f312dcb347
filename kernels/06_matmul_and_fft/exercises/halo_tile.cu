// y = x * w for one image x of H x W and one filter of 3 x 3, with zeros around the image; y is
// H x W. A block computes 16 x 16 pixels of y from 18 x 18 pixels of x in shared memory.
// grid (ceil(W / 16), ceil(H / 16)), block (16, 16), dynamic shared 0

constexpr int kTile = 16;
constexpr int kHalo = kTile + 2;
constexpr int kThreads = kTile * kTile;

extern "C" __global__ void halo_tile(const float *x, const float *w, float *y, int H, int W)
{
    __shared__ float tile[kHalo][kHalo];
    int first_row = blockIdx.y * kTile; // of the block's pixels of y
    int first_column = blockIdx.x * kTile;
    int thread = threadIdx.y * kTile + threadIdx.x;

    // TODO: fill the tile: tile[0][0] is the pixel above and left of the block's first one. There
    //       are more pixels than threads, and a pixel outside of the image is 0. Then wait for all
    // SOLUTION
    for (int i = thread; i < kHalo * kHalo; i += kThreads) {
        int row = first_row + i / kHalo - 1;
        int column = first_column + i % kHalo - 1;
        bool inside = row >= 0 && row < H && column >= 0 && column < W;
        tile[i / kHalo][i % kHalo] = inside ? x[row * W + column] : 0.0f;
    }
    __syncthreads();
    // END

    float sum = 0.0f;
    for (int r = 0; r < 3; ++r) {
        for (int s = 0; s < 3; ++s) {
            sum += tile[threadIdx.y + r][threadIdx.x + s] * w[r * 3 + s];
        }
    }
    int row = first_row + threadIdx.y;
    int column = first_column + threadIdx.x;
    if (row < H && column < W) {
        y[row * W + column] = sum;
    }
}
