// y[i][j] = x[i][j] + bias[j] for row-major rows x columns matrices of fp32.
// Idea: four tensors, cut by the same two calls. The bias is a matrix whose rows are all at one place
// (stride 0), and the identity tensor says which element of the whole matrix each piece is.
// rows * columns stays below 2^31.
// Limit: memory bandwidth; 4 bytes a load keep it busy less well than 16 (chapter 04).
// grid (ceil(columns / 64), ceil(rows / 32)), block (256), dynamic shared 0
#include <cute/tensor.hpp>

using namespace cute;

extern "C" __global__ void bias_by_tiles(const float* x, const float* bias, float* y, int rows,
                                         int columns)
{
    const auto shape = make_shape(rows, columns);
    const auto by_rows = make_stride(columns, _1{});
    const auto mine = [](auto const& whole) {
        Tensor tile = local_tile(whole, Shape<_32, _64>{}, make_coord(blockIdx.y, blockIdx.x));
        return local_partition(tile, Layout<Shape<_8, _32>, Stride<_32, _1>>{}, threadIdx.x);
    };
    Tensor from = mine(make_tensor(make_gmem_ptr(x), shape, by_rows));
    Tensor add = mine(make_tensor(make_gmem_ptr(bias), shape, make_stride(_0{}, _1{})));
    Tensor to = mine(make_tensor(make_gmem_ptr(y), shape, by_rows));
    Tensor place = mine(make_identity_tensor(shape));

    for (int v = 0; v < size(place); ++v) {
        if (elem_less(place(v), shape)) to(v) = from(v) + add(v);
    }
}
