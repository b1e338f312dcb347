// y holds the rows x columns matrix x tile by tile. A tile is 8 x 8 elements, one row of it after the
// other; the tiles follow one another down the columns of tiles. x is row-major. rows and columns are
// multiples of 8. A thread an element: i is its row, j its column.
// grid (ceil(columns / 32), ceil(rows / 8)), block (32, 8), dynamic shared 0

#include <cute/layout.hpp>

using namespace cute;

extern "C" __global__ void tile_by_tile(const float* x, float* y, int rows, int columns)
{
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    auto from = make_layout(make_shape(rows, columns), make_stride(columns, _1{}));
    // TODO: the layout `to` of y: its rows are (8, rows / 8), its columns (8, columns / 8). Then store
    // x[from(i, j)] at y[to(i, j)], where the element exists
    // SOLUTION
    auto to = make_layout(make_shape(make_shape(_8{}, rows / 8), make_shape(_8{}, columns / 8)),
                          make_stride(make_stride(_8{}, _64{}), make_stride(_1{}, 8 * rows)));
    if (i < rows && j < columns) y[to(i, j)] = x[from(i, j)];
    // END
}
