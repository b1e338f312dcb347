// out = in transposed: `in` is rows x columns, `out` columns x rows, fp32, row-major. Any shape
// with at most 65,535 blocks along y.
// Like transpose_padded.cu, without the spare column: element (row, column) of the tile lies in
// column column ^ row of its row. Along a row and down a column, 32 elements are in 32 banks.
// Limit: bytes in flight. A thread moves one element of 4 bytes.
// grid (ceil(columns / 32), ceil(rows / 32)), block (32, 32), dynamic shared 0

constexpr int kTile = 32;

extern "C" __global__ void transpose_swizzled(const float *in, float *out, int rows, int columns)
{
    __shared__ float tile[kTile][kTile];
    int x = threadIdx.x;
    int y = threadIdx.y;
    int first_row = blockIdx.y * kTile; // of the tile, in `in`
    int first_column = blockIdx.x * kTile;

    if (first_row + y < rows && first_column + x < columns) {
        tile[y][x ^ y] = in[(size_t)(first_row + y) * columns + first_column + x];
    }
    __syncthreads(); // the tile is complete
    if (first_column + y < columns && first_row + x < rows) {
        out[(size_t)(first_column + y) * rows + first_row + x] = tile[x][y ^ x];
    }
}
