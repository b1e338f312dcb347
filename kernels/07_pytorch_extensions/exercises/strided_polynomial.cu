// y = x² + x + 1 for a rows x columns view of floats: in x, its rows begin row_stride elements apart
// and its columns column_stride elements; y is contiguous, row after row. All indices of x and y fit
// into an int.
// grid (ceil(rows columns / 256)), block (256), dynamic shared 0
extern "C" __global__ void strided_polynomial(const float* x, float* y, int rows, int columns,
                                              int row_stride, int column_stride)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x; // of y
    // TODO: where in x is the element that y[i] is made of?
    // SOLUTION
    if (i >= rows * columns) return;
    const int row = i / columns, column = i % columns;
    const float at = x[row * row_stride + column * column_stride];
    y[i] = (at + 1.0f) * at + 1.0f;
    // END
}
