// C = A B^T for row-major bf16 matrices: A is M x K, B is N x K, C is M x N, with sums in fp32. M
// is any number, N and K are multiples of eight, M N is below 2^31. A and B come as tensor maps
// with boxes of 64 x 64 and 128 x 64 and a swizzle of 128 bytes.
// The kernel gemm_wgmma in CuTe: the swizzled tiles, their matrix descriptors, the instruction and
// the elements that each thread holds all come from layouts.
// Limit: as there, loads and products take turns.
// grid (ceil(N / 128), ceil(M / 64)), block 128, dynamic shared (64 + 128) * 128

#include <cute/tensor.hpp>
#include <cutlass/arch/barrier.h>
#include "cute_store.cuh"
#include "tma.cuh"

using namespace cute;
using Barrier = cutlass::arch::ClusterTransactionBarrier;

constexpr int BM = 64, BN = 128, BK = 64;

extern "C" __global__ void __launch_bounds__(128)
    cute_wgmma(const __grid_constant__ TensorMap A, const __grid_constant__ TensorMap B,
               bfloat16_t *C, int M, int N, int K)
{
    // Shared memory: eight swizzled rows, repeated to a tile.
    extern __shared__ __align__(1024) unsigned char memory[];
    __shared__ uint64_t arrived;
    GMMA::Layout_K_SW128_Atom<bfloat16_t> eight_rows;
    auto layout_a = tile_to_shape(eight_rows, Shape<Int<BM>, Int<BK>>{});
    auto layout_b = tile_to_shape(eight_rows, Shape<Int<BN>, Int<BK>>{});
    bfloat16_t *first = reinterpret_cast<bfloat16_t *>(memory);
    Tensor tile_a = make_tensor(make_smem_ptr(first), layout_a);
    Tensor tile_b = make_tensor(make_smem_ptr(first + cosize(layout_a)), layout_b);

    // The instruction. Its fragments of A and B are descriptors, not registers.
    auto mma = make_tiled_mma(SM90_64x128x16_F32BF16BF16_SS<GMMA::Major::K, GMMA::Major::K>{});
    auto products = mma.get_slice(threadIdx.x);
    Tensor a = products.make_fragment_A(products.partition_A(tile_a)); // (1, tiles, k)
    Tensor b = products.make_fragment_B(products.partition_B(tile_b));
    Tensor sum = partition_fragment_C(mma, Shape<Int<BM>, Int<BN>>{});

    if (threadIdx.x == 0) {
        Barrier::init(&arrived, 1);
        cutlass::arch::fence_barrier_init();
    }
    __syncthreads();

    mma.accumulate_ = GMMA::ScaleOut::Zero; // the first product writes the sums
    int steps = ceil_div(K, BK);
    for (int step = 0; step < steps; ++step) {
        if (threadIdx.x == 0) {
            Barrier::arrive_and_expect_tx(&arrived,
                                          sizeof(bfloat16_t) * (size(tile_a) + size(tile_b)));
            SM90_TMA_LOAD::copy(&A, &arrived, uint64_t(TMA::CacheHintSm90::EVICT_NORMAL),
                                raw_pointer_cast(tile_a.data()), step * BK, blockIdx.y * BM);
            SM90_TMA_LOAD::copy(&B, &arrived, uint64_t(TMA::CacheHintSm90::EVICT_NORMAL),
                                raw_pointer_cast(tile_b.data()), step * BK, blockIdx.x * BN);
        }
        Barrier::wait(&arrived, step % 2);
        warpgroup_arrive();
        CUTE_UNROLL
        for (int k = 0; k < size<2>(a); ++k) {
            gemm(mma, a(_, _, k), b(_, _, k), sum);
            mma.accumulate_ = GMMA::ScaleOut::One;
        }
        warpgroup_commit_batch();
        warpgroup_wait<0>();
        __syncthreads(); // all four warps have multiplied: the tiles may be overwritten
    }
    warpgroup_fence_operand(sum); // no sum is read before the wait

    // The thread's elements of C, and where each of them is.
    Tensor all_c = make_tensor(make_gmem_ptr(C), make_shape(M, N), make_stride(N, _1{}));
    auto tile = Shape<Int<BM>, Int<BN>>{};
    auto place = make_coord(blockIdx.y, blockIdx.x);
    Tensor part_c = products.partition_C(local_tile(all_c, tile, place));
    Tensor at = products.partition_C(local_tile(make_identity_tensor(shape(all_c)), tile, place));
    store_inside(sum, part_c, at, shape(all_c));
}
