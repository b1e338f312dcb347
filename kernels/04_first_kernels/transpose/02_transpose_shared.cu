// out = in transposed: `in` is rows x columns, `out` columns x rows, fp32, row-major. Any shape
// with at most 65,535 blocks along y.
// Adds to transpose_naive.cu: the block keeps its 32 x 32 elements in shared memory and writes them
// in another order than it read them, so that x runs along the rows of `out` too.
// Limit: bank conflicts. A column of the tile lies in one bank: reading it takes 32 wavefronts.
// grid (ceil(columns / 32), ceil(rows / 32)), block (32, 32), dynamic shared 0

constexpr int kTile = 32;

extern "C" __global__ void transpose_shared(const float *in, float *out, int rows, int columns)
{
    __shared__ float tile[kTile][kTile];
    int x = threadIdx.x;
    int y = threadIdx.y;
    int first_row = blockIdx.y * kTile; // of the tile, in `in`
    int first_column = blockIdx.x * kTile;

    if (first_row + y < rows && first_column + x < columns) {
        tile[y][x] = in[(size_t)(first_row + y) * columns + first_column + x];
    }
    __syncthreads(); // the tile is complete
    if (first_column + y < columns && first_row + x < rows) {
        out[(size_t)(first_column + y) * rows + first_row + x] = tile[x][y];
    }
}
