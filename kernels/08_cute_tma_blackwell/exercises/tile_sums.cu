// sums[b][j] = the sum of the rows 64 b to 64 b + 63, as far as they exist, of column j of a row-major
// rows x columns matrix of fp32. columns is a multiple of 4, x begins at a multiple of 16 bytes.
// rows * columns stays below 2^31.
// grid (ceil(columns / 64), ceil(rows / 64)), block (256), dynamic shared 0
#include "ptx.cuh"

extern "C" __global__ void tile_sums(const float* x, float* sums, int rows, int columns)
{
    __shared__ alignas(16) float tile[64][64];
    // TODO: fetch the tile by cp_async_16(shared_address(&tile[...][...]), from, exists): 16 threads
    // a row, four rounds, zeros where no element exists. Wait; then 64 threads sum a column each
    // SOLUTION
    const int column = threadIdx.x % 16 * 4;
    const int first_row = blockIdx.y * 64, first_column = blockIdx.x * 64;
    for (int row = threadIdx.x / 16; row < 64; row += 16) {
        const bool exists = first_row + row < rows && first_column + column < columns;
        const float* from = &x[(first_row + row) * columns + first_column + column];
        cp_async_16(shared_address(&tile[row][column]), exists ? from : x, exists);
    }
    cp_async_commit();
    cp_async_wait<0>();
    __syncthreads();
    const int mine = threadIdx.x;
    if (mine < 64 && first_column + mine < columns) {
        float sum = 0;
        for (int row = 0; row < 64; ++row) sum += tile[row][mine];
        sums[blockIdx.y * columns + first_column + mine] = sum;
    }
    // END
}
