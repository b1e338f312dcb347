// y = x for row-major rows x columns matrices of fp32, columns a multiple of 4, both from a multiple
// of 16 bytes on; by way of shared memory, as a kernel does that will read the tile several times.
// Idea: a tiled copy is an instruction, a layout of threads and a layout of values in one object. It
// partitions the source, the target and the identity tensor alike. THREADS and VALUES may be others
// that divide 64 x 64, with four neighbours of a row as values. rows * columns stays below 2^31.
// Limit: memory bandwidth.
// grid (ceil(columns / 64), ceil(rows / 64)), block (256), dynamic shared 0
#include <cute/tensor.hpp>

using namespace cute;

#ifndef THREADS
#define THREADS Layout<Shape<_16, _16>, Stride<_16, _1>>{}
#endif
#ifndef VALUES
#define VALUES Layout<Shape<_1, _4>>{}
#endif

extern "C" __global__ void tile_by_copies(const float* x, float* y, int rows, int columns)
{
    __shared__ alignas(16) float room[64 * 64];
    const auto shape = make_shape(rows, columns);
    const auto by_rows = make_stride(columns, _1{});
    const auto block_of = [](auto const& whole) {
        return local_tile(whole, Shape<_64, _64>{}, make_coord(blockIdx.y, blockIdx.x));
    };
    Tensor from = block_of(make_tensor(make_gmem_ptr(x), shape, by_rows)); // (64, 64)
    Tensor to = block_of(make_tensor(make_gmem_ptr(y), shape, by_rows));
    Tensor place = block_of(make_identity_tensor(shape));
    Tensor tile = make_tensor(make_smem_ptr(room), Layout<Shape<_64, _64>, Stride<_64, _1>>{});

    using Fetch = Copy_Atom<SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>, float>;
    using Store = Copy_Atom<UniversalCopy<uint128_t>, float>;
    const auto tiled = make_tiled_copy(Fetch{}, THREADS, VALUES);
    const auto thread = tiled.get_slice(threadIdx.x);

    Tensor mine = thread.partition_S(place); // ((4, 1), 4, 1): values, then rounds down and across
    Tensor exists = make_tensor<bool>(make_shape(_1{}, size<1>(mine), size<2>(mine)));
    for (int i = 0; i < size(exists); ++i) exists(i) = elem_less(mine(_0{}, i, _0{}), shape);

    copy_if(Fetch{}, exists, thread.partition_S(from), thread.partition_D(tile));
    cp_async_fence();
    cp_async_wait<0>();
    __syncthreads();
    copy_if(Store{}, exists, thread.partition_S(tile), thread.partition_D(to));
}
