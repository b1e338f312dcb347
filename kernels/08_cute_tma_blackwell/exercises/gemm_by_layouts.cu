// C = A B^T for row-major matrices in fp16: A (M x K) and B (N x K), C (M x N) in fp32. M and N are
// multiples of 64, K is one of 32. A block has a tile of 64 x 64 of C. In each step of 32 along K
// it copies 64 x 32 of A and of B to shared memory by cp.async, 16 bytes a copy, and its 2 x 2
// warps multiply from there with SM80_16x8x16_F32F16F16F32_TN. One stage is enough. The kernel is
//     extern "C" __global__ void gemm_by_layouts(const half_t *A, const half_t *B, float *C, int M,
//                                                int N, int K)
// grid (N / 64, M / 64), block (128), dynamic shared 0

// TODO: the whole kernel, with <cute/tensor.hpp>: the three levels, no index formula
// SOLUTION
#include <cute/tensor.hpp>

using namespace cute;

extern "C" __global__ void gemm_by_layouts(const half_t *A, const half_t *B, float *C, int M, int N,
                                           int K)
{
    // Level 1, the block: its tiles in global memory and in shared memory.
    Tensor all_a = make_tensor(make_gmem_ptr(A), make_shape(M, K), make_stride(K, _1{}));
    Tensor all_b = make_tensor(make_gmem_ptr(B), make_shape(N, K), make_stride(K, _1{}));
    Tensor all_c = make_tensor(make_gmem_ptr(C), make_shape(M, N), make_stride(N, _1{}));
    Tensor tiles_a =
        local_tile(all_a, Shape<_64, _32>{}, make_coord(blockIdx.y, _)); // (64, 32, steps)
    Tensor tiles_b = local_tile(all_b, Shape<_64, _32>{}, make_coord(blockIdx.x, _));
    Tensor tile_c = local_tile(all_c, Shape<_64, _64>{}, make_coord(blockIdx.y, blockIdx.x));
    __shared__ __align__(16) half_t memory[2][64 * 40];
    auto padded = Layout<Shape<_64, _32>, Stride<_40, _1>>{}; // 80 bytes a row
    Tensor shared_a = make_tensor(make_smem_ptr(memory[0]), padded);
    Tensor shared_b = make_tensor(make_smem_ptr(memory[1]), padded);

    // Level 2, the thread that copies: four threads a row, 16 bytes each.
    auto copier =
        make_tiled_copy(Copy_Atom<SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>, half_t>{},
                        Layout<Shape<_32, _4>, Stride<_4, _1>>{}, Layout<Shape<_1, _8>>{});
    auto copies = copier.get_slice(threadIdx.x);

    // Level 3, the thread that multiplies.
    auto mma = make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, Layout<Shape<_2, _2>>{});
    auto part = mma.get_slice(threadIdx.x);
    Tensor a = part.partition_fragment_A(shared_a); // registers
    Tensor b = part.partition_fragment_B(shared_b);
    Tensor sum = part.partition_fragment_C(tile_c);
    clear(sum);
    for (int step = 0; step < K / 32; ++step) {
        copy(copier, copies.partition_S(tiles_a(_, _, step)), copies.partition_D(shared_a));
        copy(copier, copies.partition_S(tiles_b(_, _, step)), copies.partition_D(shared_b));
        cp_async_fence();
        cp_async_wait<0>();
        __syncthreads(); // all copies are there
        copy(part.partition_A(shared_a), a);
        copy(part.partition_B(shared_b), b);
        gemm(mma, a, b, sum);
        __syncthreads(); // all have read
    }
    copy(sum, part.partition_C(tile_c));
}
// END
