// C = A B^T for row-major matrices in fp16: A (M x K) and B (N x K), C (M x N) in fp32. M and K are
// multiples of 16, N is one of 8. A block is one warp, and computes 16 x 8 results with
// SM80_16x8x16_F32F16F16F32_TN, straight from global memory. The kernel is
//     extern "C" __global__ void warp_product(const half_t *A, const half_t *B, float *C, int M,
//                                             int N, int K)
// grid (N / 8, M / 16), block (32), dynamic shared 0

// TODO: the whole kernel, with <cute/tensor.hpp>: tiles, parts and fragments, no index formula
// SOLUTION
#include <cute/tensor.hpp>

using namespace cute;

extern "C" __global__ void warp_product(const half_t *A, const half_t *B, float *C, int M, int N,
                                        int K)
{
    Tensor all_a = make_tensor(make_gmem_ptr(A), make_shape(M, K), make_stride(K, _1{}));
    Tensor all_b = make_tensor(make_gmem_ptr(B), make_shape(N, K), make_stride(K, _1{}));
    Tensor all_c = make_tensor(make_gmem_ptr(C), make_shape(M, N), make_stride(N, _1{}));
    Tensor tiles_a =
        local_tile(all_a, Shape<_16, _16>{}, make_coord(blockIdx.y, _)); // (16, 16, steps)
    Tensor tiles_b = local_tile(all_b, Shape<_8, _16>{}, make_coord(blockIdx.x, _));
    Tensor tile_c = local_tile(all_c, Shape<_16, _8>{}, make_coord(blockIdx.y, blockIdx.x));

    auto mma = make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{});
    auto part = mma.get_slice(threadIdx.x);
    Tensor a = part.partition_fragment_A(tiles_a(_, _, 0)); // registers
    Tensor b = part.partition_fragment_B(tiles_b(_, _, 0));
    Tensor sum = part.partition_fragment_C(tile_c);
    clear(sum);
    for (int step = 0; step < K / 16; ++step) {
        copy(part.partition_A(tiles_a(_, _, step)), a);
        copy(part.partition_B(tiles_b(_, _, step)), b);
        gemm(mma, a, b, sum);
    }
    copy(sum, part.partition_C(tile_c));
}
// END
