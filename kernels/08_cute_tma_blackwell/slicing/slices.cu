// out[s][i] is the place in a row-major 8 x 12 matrix of the i-th element of slice s, -1 beyond the
// slice's size. SLICES are expressions of CuTe, separated by commas, in which x is the matrix.
// Idea: ask CuTe itself. A slice is a tensor of its own: a pointer, moved on, and the layout of the
// modes that stay. Its elements are not read here, only found.
// It stores 4 bytes an element. out has room for 96 elements a slice.
// grid 1, block (96), dynamic shared 0
#include <cute/tensor.hpp>

using namespace cute;

#ifndef SLICES
#define SLICES x(2, _), x(_, 3)
#endif

template <class Slice>
__device__ void answer(int* out, const float* start, Slice const& slice)
{
    const int i = threadIdx.x;
    out[i] = i < size(slice) ? int(&slice(i) - start) : -1;
}

extern "C" __global__ void slices(const float* matrix, int* out)
{
    Tensor x = make_tensor(make_gmem_ptr(matrix), make_shape(_8{}, _12{}), LayoutRight{});
    const auto answer_all = [&](auto const&... slice) {
        int number = 0;
        (answer(out + size(x) * number++, matrix, slice), ...);
    };
    answer_all(SLICES);
}
