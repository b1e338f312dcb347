// c = a * b, element by element with broadcasting, in fp32: c is rows x columns in C order, and an
// element of a or b is found by its strides (in elements), as in tensor_add.
// Takes any shape with fewer than 2^31 elements (indices are int). c may be a or b, if that has c's
// shape.
// Limit: memory bandwidth, or at small sizes the launch.
// grid (ceil(rows columns / 256)), block 256, dynamic shared 0

extern "C" __global__ void tensor_multiply(const float *a, const float *b, float *c, int rows,
                                           int columns, int a_row, int a_column, int b_row,
                                           int b_column)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * columns) {
        return;
    }
    int row = i / columns;
    int column = i % columns;
    c[i] = a[row * a_row + column * a_column] * b[row * b_row + column * b_column];
}
