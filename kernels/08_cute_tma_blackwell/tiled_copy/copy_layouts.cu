// out[t + threads v] is the element, counted down the columns of its tile, that value v of thread t is
// in a tiled copy of THREADS and VALUES; sides[0] and sides[1] are the rows and columns of the tile.
// Idea: ask CuTe what make_tiled_copy makes of two small layouts.
// size(THREADS) size(VALUES) elements.
// grid 1, block (128), dynamic shared 0
#include <cute/tensor.hpp>

using namespace cute;

#ifndef THREADS
#define THREADS Layout<Shape<_4, _4>, Stride<_4, _1>>{}
#endif
#ifndef VALUES
#define VALUES Layout<Shape<_1, _4>>{}
#endif

extern "C" __global__ void copy_layouts(int* out, int* sides)
{
    auto copy = make_tiled_copy(Copy_Atom<UniversalCopy<float>, float>{}, THREADS, VALUES);
    using Tiled = decltype(copy);
    const auto elements = typename Tiled::TiledLayout_TV{};
    for (int i = threadIdx.x; i < size(elements); i += blockDim.x) out[i] = elements(i);
    sides[0] = size<0>(typename Tiled::Tiler_MN{});
    sides[1] = size<1>(typename Tiled::Tiler_MN{});
}
