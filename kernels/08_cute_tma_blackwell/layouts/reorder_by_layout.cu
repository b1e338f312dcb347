// y holds the rows x columns matrix x column by column, x row by row. A thread an element.
// Idea: the formulas are in two layouts, and the statement that moves an element has coordinates
// alone. The compiler makes the same instructions of both (notebook 08/01 counts them).
// grid (ceil(columns / 32), ceil(rows / 8)), block (32, 8), dynamic shared 0
#include <cute/tensor.hpp>

using namespace cute;

extern "C" __global__ void reorder_by_layout(const float* x, float* y, int rows, int columns)
{
    auto shape = make_shape(rows, columns);
    Tensor by_rows = make_tensor(make_gmem_ptr(x), shape, make_stride(columns, _1{}));
    Tensor by_columns = make_tensor(make_gmem_ptr(y), shape, make_stride(_1{}, rows));

    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows && j < columns) by_columns(i, j) = by_rows(i, j);
}
