// y holds the 32 x 64 tile x of 16-bit elements by columns of chunks, as in chunk_columns.
// Idea: a swizzle is composed with the layout of shared memory; the statements that store and load
// keep their coordinates. Seen as chunks of 16 bytes (`recast`), the same swizzle has a smaller base.
// grid 1, block 32, dynamic shared 0
#include <cute/tensor.hpp>

using namespace cute;

#ifndef SWIZZLE
#define SWIZZLE Swizzle<3, 3, 3>
#endif

extern "C" __global__ void chunk_columns_by_layout(const half_t *x, half_t *y)
{
    __shared__ __align__(1024) half_t memory[32 * 64]; // as a swizzle of addresses wants it
    auto rows = Layout<Shape<_32, _64>, Stride<_64, _1>>{};
    Tensor tile = make_tensor(make_smem_ptr(memory), composition(SWIZZLE{}, rows));
    Tensor chunks = recast<uint128_t>(tile); // 32 x 8
    Tensor from = recast<const uint128_t>(make_tensor(make_gmem_ptr(x), rows));
    Tensor to = make_tensor(recast_ptr<uint128_t>(make_gmem_ptr(y)), Layout<Shape<_32, _8>>{});

    const unsigned lane = threadIdx.x;
    for (unsigned i = lane; i < size(from); i += 32) {
        chunks(i / 8, i % 8) = from(i / 8, i % 8);
    }
    __syncwarp();
    for (int chunk = 0; chunk < 8; ++chunk) {
        to(lane, chunk) = chunks(lane, chunk);
    }
}
