// y = x repeated up to rows x columns, in fp32: what tensor_sum's gradient does. y is in C order,
// an element of x is found by its strides (in elements), 0 along an axis that is repeated.
// Takes any shape with fewer than 2^31 elements (indices are int).
// Limit: memory bandwidth, or at small sizes the launch.
// grid (ceil(rows columns / 256)), block 256, dynamic shared 0

extern "C" __global__ void tensor_expand(const float *x, float *y, int rows, int columns, int x_row,
                                         int x_column)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * columns) {
        y[i] = x[i / columns * x_row + i % columns * x_column];
    }
}
