// y = x * h, the convolution of an image with a filter, in fp32: x is rows x columns, h is R x S,
// and y is the part of the whole convolution, rows + R - 1 by columns + S - 1, that begins at row
// `top`, column `left` and has out_rows x out_columns results. A signal is an image of one row.
// The idea: a thread adds up one result. Numbers beyond x are zeros. Any shapes.
// Limit: two loads, and a comparison, for each product.
// For a signal a block (256, 1) is better than one of 8 rows.
// grid (ceil(out_columns / 32), ceil(out_rows / 8)), block (32, 8), dynamic shared 0

extern "C" __global__ void filter_direct(const float *x, const float *h, float *y, int rows,
                                         int columns, int R, int S, int top, int left,
                                         int out_rows, int out_columns)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= out_rows || column >= out_columns) {
        return;
    }
    float sum = 0.0f;
    for (int r = 0; r < R; ++r) {
        const int from_row = row + top - r;
        if (from_row < 0 || from_row >= rows) {
            continue;
        }
        for (int s = 0; s < S; ++s) {
            const int from_column = column + left - s;
            if (from_column >= 0 && from_column < columns) {
                sum += h[r * S + s] * x[(size_t)from_row * columns + from_column];
            }
        }
    }
    y[(size_t)row * out_columns + column] = sum;
}
