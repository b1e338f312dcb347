// out[i] is the offset that LAYOUT, an expression of CuTe, gives the i-th coordinate.
// Idea: ask CuTe itself. Numbers written as Int<4>{} or _4{} are known to the compiler; rows and
// columns are not, and an expression may use them.
// It stores 4 bytes an element. size(LAYOUT) elements; out has n of them.
// grid (ceil(n / 128)), block (128), dynamic shared 0
#include <cute/layout.hpp>

using namespace cute;

#ifndef LAYOUT
#define LAYOUT make_layout(make_shape(_4{}, _8{}), make_stride(_8{}, _1{}))
#endif

extern "C" __global__ void layout_offsets(int* out, int n, int rows, int columns)
{
    auto layout = LAYOUT;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && i < size(layout)) out[i] = layout(i);
}
