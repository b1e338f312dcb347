// out = in transposed: `in` is rows x columns, `out` columns x rows, fp32, row-major. Any shape
// with at most 65,535 blocks along y.
// Adds to transpose_shared.cu: a row of the tile is 33 elements long, and the last of them is never
// used. Two elements of one column now lie 33 words apart, in neighbouring banks.
// Limit: bytes in flight. A thread moves one element of 4 bytes.
// grid (ceil(columns / 32), ceil(rows / 32)), block (32, 32), dynamic shared 0

constexpr int kTile = 32;

extern "C" __global__ void transpose_padded(const float *in, float *out, int rows, int columns)
{
    __shared__ float tile[kTile][kTile + 1];
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
