// y = x^T for a row-major rows x columns matrix x of floats; rows and columns are multiples of 32. A
// warp moves a tile of 32 x 32: it stores rows of it into shared memory and loads columns.
// grid (columns / 32, rows / 32), block 32, dynamic shared 0

#include <cute/layout.hpp>
#include <cute/swizzle_layout.hpp>

using namespace cute;

extern "C" __global__ void transposed_tile(const float *x, float *y, int rows, int columns)
{
    __shared__ float tile[32 * 32];
    const int lane = threadIdx.x;
    const int row = blockIdx.y * 32, column = blockIdx.x * 32; // where the tile begins in x
    // TODO: swizzle this layout, so that neither the stores nor the loads meet a bank conflict
    // STARTER
    //| auto place = make_layout(make_shape(_32{}, _32{}), make_stride(_32{}, _1{}));
    // SOLUTION
    auto place = composition(Swizzle<5, 0, 5>{},
                             make_layout(make_shape(_32{}, _32{}), make_stride(_32{}, _1{})));
    // END
    for (int i = 0; i < 32; ++i) {
        tile[place(i, lane)] = x[(size_t)(row + i) * columns + column + lane];
    }
    __syncwarp();
    for (int i = 0; i < 32; ++i) {
        y[(size_t)(column + i) * rows + row + lane] = tile[place(lane, i)];
    }
}
