// sums[r] = the sum of row r, for a matrix of rows x columns floats that is stored by rows. Takes any
// rows and columns. Each block has 256 rows.
// grid (ceil(rows / 256)), block (256), dynamic shared 0

constexpr int kBlock = 256;

extern "C" __global__ void row_sums(const float* x, float* sums, int rows, int columns)
{
    const int first = blockIdx.x * kBlock;
    // TODO: let the lanes of a warp add up one row together, and then the warp's next row
    // STARTER
    //| const int row = first + threadIdx.x;
    //| if (row < rows) {
    //|     float sum = 0.0f;
    //|     for (int i = 0; i < columns; ++i) {
    //|         sum += x[(size_t)row * columns + i];
    //|     }
    //|     sums[row] = sum;
    //| }
    // SOLUTION
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int row = first + warp; row < min(first + kBlock, rows); row += kBlock / 32) {
        const float* row_of_x = x + (size_t)row * columns;
        float sum = 0.0f;
        for (int i = lane; i < columns; i += 32) {
            sum += row_of_x[i];
        }
        for (int distance = 16; distance > 0; distance /= 2) {
            sum += __shfl_down_sync(0xffffffff, sum, distance);
        }
        if (lane == 0) {
            sums[row] = sum;
        }
    }
    // END
}
