// Who takes which element: blocks[i][j] and threads[i][j] are the block and the thread to which
// local_tile and local_partition give the element (i, j) of a row-major matrix.
// Idea: the predicate at the edges. An identity tensor, cut as the data is, has as its elements the
// coordinates of theirs.
// A block has a tile of 8 x 16; its 32 threads are down x across, with these steps from thread to
// thread. Here they are variables, so that one compilation serves every arrangement.
// grid (ceil(columns / 16), ceil(rows / 8)), block (32), dynamic shared 0
#include <cute/tensor.hpp>

using namespace cute;

extern "C" __global__ void takers(int* blocks, int* threads, int rows, int columns, int down,
                                  int across, int step_down, int step_across)
{
    const auto arrangement = make_layout(make_shape(down, across), make_stride(step_down, step_across));
    const auto shape = make_shape(rows, columns);
    const auto mine = [&](auto const& whole) {
        Tensor tile = local_tile(whole, Shape<_8, _16>{}, make_coord(blockIdx.y, blockIdx.x));
        return local_partition(tile, arrangement, threadIdx.x);
    };
    Tensor block_of = mine(make_tensor(make_gmem_ptr(blocks), shape, make_stride(columns, _1{})));
    Tensor thread_of = mine(make_tensor(make_gmem_ptr(threads), shape, make_stride(columns, _1{})));
    Tensor place = mine(make_identity_tensor(shape));

    for (int v = 0; v < size(place); ++v) {
        if (elem_less(place(v), shape)) {
            block_of(v) = blockIdx.y * gridDim.x + blockIdx.x;
            thread_of(v) = threadIdx.x;
        }
    }
}
