// y = relu(x + bias) for row-major fp32 matrices of rows x columns, with one number of bias for each
// column, and a bit for each element that says whether it stayed: bit c of row r is 1 where
// x + bias > 0. A row of the mask is padded to a multiple of 128 bits, four unsigned words, and
// element c is bit c % 32 of word c / 32; bits past the last column are 0. At most 65,535 rows.
// grid (ceil(columns / 128), rows), block 128, dynamic shared 0

extern "C" __global__ void relu_mask(const float *x, const float *bias, float *y, unsigned *mask,
                                     int rows, int columns)
{
    const int column = blockIdx.x * 128 + threadIdx.x;
    const int row = blockIdx.y;
    const int words = (columns + 127) / 128 * 4; // of a row of the mask
    // TODO: store y, where there is an element, and one word of the mask for each warp
    // SOLUTION
    float value = 0.0f;
    if (column < columns) {
        const size_t at = (size_t)row * columns + column;
        value = x[at] + bias[column];
        y[at] = value > 0.0f ? value : 0.0f;
    }
    const unsigned bits = __ballot_sync(0xffffffff, value > 0.0f);
    if (threadIdx.x % 32 == 0) mask[(size_t)row * words + column / 32] = bits;
    // END
}
