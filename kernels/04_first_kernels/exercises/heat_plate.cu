// One step of heat flow on a plate of rows * columns fp32. With `around`, the sum of its four
// neighbours, an inner cell takes y = u + 0.125 * (around - 4 u). The cells of the edges stay.
// A block loads its part of u once, into shared memory. Takes any shape.
// grid (ceil(columns / 32), ceil(rows / 8)), block (32, 8), dynamic shared 0

extern "C" __global__ void heat_plate(const float *u, float *y, int rows, int columns)
{
    // TODO: a tile with its halo, and one step for each cell
    // SOLUTION
    __shared__ float tile[10][34];
    const int first_row = blockIdx.y * 8 - 1;
    const int first_column = blockIdx.x * 32 - 1;
    for (int cell = threadIdx.y * 32 + threadIdx.x; cell < 10 * 34; cell += 256) {
        const int row = first_row + cell / 34;
        const int column = first_column + cell % 34;
        if (row >= 0 && row < rows && column >= 0 && column < columns) {
            tile[cell / 34][cell % 34] = u[row * columns + column];
        }
    }
    __syncthreads(); // the tile is there
    const int r = threadIdx.y + 1;
    const int c = threadIdx.x + 1;
    const int row = first_row + r;
    const int column = first_column + c;
    if (row < rows && column < columns) {
        float result = tile[r][c];
        if (row > 0 && row < rows - 1 && column > 0 && column < columns - 1) {
            const float around = tile[r - 1][c] + tile[r + 1][c] + tile[r][c - 1] + tile[r][c + 1];
            result += 0.125f * (around - 4.0f * result);
        }
        y[row * columns + column] = result;
    }
    // END
}
