// y[i][j] = gate[i] * x[i][j] + shift[j] for row-major rows x columns matrices of fp32. A block's tile
// is 32 x 64; rows * columns stays below 2^31.
// grid (ceil(columns / 64), ceil(rows / 32)), block (256), dynamic shared 0
#include <cute/tensor.hpp>

using namespace cute;

extern "C" __global__ void gate_and_shift(const float* x, const float* gate, const float* shift,
                                          float* y, int rows, int columns)
{
    const auto shape = make_shape(rows, columns);
    const auto place = make_coord(blockIdx.y, blockIdx.x);
    // TODO: five tensors of this shape: x, gate, shift, y, and the identity. Cut each into the
    // block's tile, and the tile into this thread's part, with neighbouring threads in
    // neighbouring columns. Then compute y wherever the element exists
    // SOLUTION
    const auto by_rows = make_stride(columns, _1{});
    const auto mine = [&](auto const& whole) {
        return local_partition(local_tile(whole, Shape<_32, _64>{}, place),
                               Layout<Shape<_8, _32>, Stride<_32, _1>>{}, threadIdx.x);
    };
    Tensor from = mine(make_tensor(make_gmem_ptr(x), shape, by_rows));
    Tensor factor = mine(make_tensor(make_gmem_ptr(gate), shape, make_stride(_1{}, _0{})));
    Tensor term = mine(make_tensor(make_gmem_ptr(shift), shape, make_stride(_0{}, _1{})));
    Tensor to = mine(make_tensor(make_gmem_ptr(y), shape, by_rows));
    Tensor where = mine(make_identity_tensor(shape));
    for (int v = 0; v < size(to); ++v) {
        if (elem_less(where(v), shape)) to(v) = factor(v) * from(v) + term(v);
    }
    // END
}
