// C = A B^T for one tile, as in mma_by_hand.
// Idea: the instruction is an atom that brings its own thread-value layouts; `partition_A` and its like
// give each thread the elements that they say.
// grid 1, block 32, dynamic shared 0
#include <cute/tensor.hpp>

using namespace cute;

extern "C" __global__ void mma_by_layout(const half_t *A, const half_t *B, float *C)
{
    Tensor tile_a = make_tensor(make_gmem_ptr(A), Layout<Shape<_16, _16>, Stride<_16, _1>>{});
    Tensor tile_b = make_tensor(make_gmem_ptr(B), Layout<Shape<_8, _16>, Stride<_16, _1>>{});
    Tensor tile_c = make_tensor(make_gmem_ptr(C), Layout<Shape<_16, _8>, Stride<_8, _1>>{});

    auto mma = make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{});
    auto part = mma.get_slice(threadIdx.x);
    Tensor a = part.partition_fragment_A(tile_a); // registers
    Tensor b = part.partition_fragment_B(tile_b);
    Tensor sum = part.partition_fragment_C(tile_c);
    copy(part.partition_A(tile_a), a);
    copy(part.partition_B(tile_b), b);
    clear(sum);
    gemm(mma, a, b, sum);
    copy(sum, part.partition_C(tile_c));
}
