// Rotates a picture 90 degrees clockwise: out[column][rows - 1 - row] = in[row][column]. `in` has
// rows x columns floats, row by row, `out` columns x rows. Takes any shape.
// grid (ceil(columns / 32), ceil(rows / 32)) or more, block (32, 32), dynamic shared 0

constexpr int kTile = 32;

extern "C" __global__ void rotate_picture(const float *in, float *out, int rows, int columns)
{
    // TODO: through a tile in shared memory
    // SOLUTION
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const int first_row = blockIdx.y * kTile;  // of the tile, in `in`
    const int first_column = blockIdx.x * kTile;
    __shared__ float tile[kTile][kTile + 1];

    if (first_row + y < rows && first_column + x < columns) {
        tile[y][x] = in[(first_row + y) * columns + first_column + x];
    }
    __syncthreads();  // the tile is complete

    const int row = first_row + x;  // the element that this thread writes: column y of the tile
    const int column = first_column + y;
    if (row < rows && column < columns) {
        out[column * rows + rows - 1 - row] = tile[x][y];
    }
    // END
}
