// The thread-value layouts of an mma atom and of a TiledMMA of 2 x 2 warps on a tile of 32 x 32 x 16,
// as CuTe computes them: each array holds the element, counted down the columns, of (thread, value).
// a has 256 elements, b and c have 128; tiled_a and tiled_b have 1024 (each element is held by two
// warps), tiled_c has 1024.
// grid 1, block 32, dynamic shared 0
#include <cute/atom/mma_atom.hpp>

using namespace cute;
using Op = SM80_16x8x16_F32F16F16F32_TN;

template <class L>
__device__ inline void write(int *out, L layout)
{
    for (int i = threadIdx.x; i < size(layout); i += 32) {
        out[i] = layout(i);
    }
}

extern "C" __global__ void mma_layouts(int *a, int *b, int *c, int *tiled_a, int *tiled_b,
                                       int *tiled_c)
{
    write(a, typename MMA_Traits<Op>::ALayout{});
    write(b, typename MMA_Traits<Op>::BLayout{});
    write(c, typename MMA_Traits<Op>::CLayout{});
    auto mma = make_tiled_mma(Op{}, Layout<Shape<_2, _2>>{}, Tile<_32, _32, _16>{});
    write(tiled_a, mma.get_layoutA_TV());
    write(tiled_b, mma.get_layoutB_TV());
    write(tiled_c, mma.get_layoutC_TV());
}
