// y = x for column-major rows x columns matrices of 16-bit numbers. rows is a multiple of 64, columns
// one of 32; both arrays begin at multiples of 128 bytes. rows * columns stays below 2^31.
// grid (rows / 64, columns / 32), block (128), dynamic shared 0
#include <cute/tensor.hpp>

using namespace cute;

extern "C" __global__ void columns_copied(const unsigned short* x, unsigned short* y, int rows,
                                          int columns)
{
    const auto block_of = [&](auto* data) {
        Tensor whole = make_tensor(make_gmem_ptr(data), make_shape(rows, columns),
                                   make_stride(_1{}, rows));
        return local_tile(whole, Shape<_64, _32>{}, make_coord(blockIdx.x, blockIdx.y));
    };
    Tensor from = block_of(x); // (64, 32)
    Tensor to = block_of(y);
    // TODO: a tiled copy: an atom of 16 bytes, 128 threads, and the values that one access moves. Then
    // this thread's part of both tensors, and the copy
    // SOLUTION
    const auto tiled = make_tiled_copy(Copy_Atom<UniversalCopy<uint128_t>, unsigned short>{},
                                       Layout<Shape<_8, _16>>{}, Layout<Shape<_8, _1>>{});
    const auto thread = tiled.get_slice(threadIdx.x);
    copy(tiled, thread.partition_S(from), thread.partition_D(to));
    // END
}
