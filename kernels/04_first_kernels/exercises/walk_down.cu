// y[r][c] = x[r][c] + x[r + 1][c] + x[r + 2][c], for rows - 2 rows of columns floats. x has `rows`
// of them, at least 3. A thread walks down eight results of its column.
// grid (ceil(columns / 64), ceil((rows - 2) / 8)) or more, block (64), dynamic shared 0

constexpr int kEach = 8;

extern "C" __global__ void walk_down(const float *x, float *y, int rows, int columns)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int first = blockIdx.y * kEach;
    // TODO: this is right, but each element is loaded three times. A thread needs only ten elements
    // for its eight results: keep those that the next row needs
    // STARTER
    //| if (column < columns) {
    //|     for (int r = first; r < min(first + kEach, rows - 2); ++r) {
    //|         float sum = 0.0f;
    //|         for (int k = 0; k < 3; ++k) {
    //|             sum += x[(size_t)(r + k) * columns + column];
    //|         }
    //|         y[(size_t)r * columns + column] = sum;
    //|     }
    //| }
    // SOLUTION
    if (column < columns && first < rows - 2) {
        float above = x[(size_t)first * columns + column];
        float middle = x[(size_t)(first + 1) * columns + column];
        for (int r = first; r < min(first + kEach, rows - 2); ++r) {
            const float below = x[(size_t)(r + 2) * columns + column];
            y[(size_t)r * columns + column] = above + middle + below;
            above = middle;
            middle = below;
        }
    }
    // END
}
