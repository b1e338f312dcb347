// D = A B^T for one tile: row-major bf16 matrices A (128 x 64) and B (COLUMNS x 64), D (128 x
// COLUMNS) in fp32. COLUMNS is 32, 64 or 128. The tensor maps of A and B have boxes of 128 x 64
// and COLUMNS x 64, and a swizzle of 128 bytes.
// The kernel umma_tile in CuTe: both descriptors, the tensor in tensor memory and the lanes that a
// thread fetches come from layouts.
// Limit: as there, everything happens once, one thing after the other.
// grid (1), block (128), dynamic shared 0

#include <cute/tensor.hpp>
#include <cute/arch/tmem_allocator_sm100.hpp>
#include <cute/atom/copy_traits_sm100.hpp>
#include <cute/atom/mma_traits_sm100.hpp>
#include <cutlass/arch/barrier.h>
#include "ptx.cuh"
#include "tcgen05.cuh"

using namespace cute;
using Barrier = cutlass::arch::ClusterTransactionBarrier;

#ifndef COLUMNS
#define COLUMNS 64
#endif

extern "C" __global__ void __launch_bounds__(128)
    cute_umma(const __grid_constant__ TensorMap A, const __grid_constant__ TensorMap B, float *D)
{
    using Tile = Shape<_128, Int<COLUMNS>>;
    auto mma = make_tiled_mma(SM100_MMA_F16BF16_SS<bfloat16_t, bfloat16_t, float, 128, COLUMNS,
                                                   UMMA::Major::K, UMMA::Major::K>{});
    auto products = mma.get_slice(0); // of the block: one thread multiplies for all

    // Shared memory: eight swizzled rows, repeated to (instruction, tiles, k).
    UMMA::Layout_K_SW128_Atom<bfloat16_t> eight_rows;
    auto layout_a = UMMA::tile_to_mma_shape(eight_rows, partition_shape_A(mma, Shape<_128, _64>{}));
    auto layout_b =
        UMMA::tile_to_mma_shape(eight_rows, partition_shape_B(mma, Shape<Int<COLUMNS>, _64>{}));
    __shared__ __align__(1024) unsigned char room[(128 + COLUMNS) * 128];
    __shared__ uint64_t arrived, done;
    __shared__ uint32_t allocated;
    bfloat16_t *first = reinterpret_cast<bfloat16_t *>(room);
    Tensor tile_a = make_tensor(make_smem_ptr(first), layout_a);
    Tensor tile_b = make_tensor(make_smem_ptr(first + cosize(layout_a)), layout_b);
    Tensor a = products.make_fragment_A(tile_a); // descriptors: (1, tiles, k)
    Tensor b = products.make_fragment_B(tile_b);
    Tensor all_d = make_tensor(make_gmem_ptr(D), Tile{}, make_stride(Int<COLUMNS>{}, _1{}));
    Tensor part_d = products.partition_C(all_d);
    Tensor sums = products.make_fragment_C(part_d); // in tensor memory

    const int warp = threadIdx.x / 32;
    TMEM::Allocator1Sm allocator;
    if (threadIdx.x == 0) {
        Barrier::init(&arrived, 1);
        Barrier::init(&done, 1);
        cutlass::arch::fence_barrier_init();
    }
    if (warp == 0) {
        allocator.allocate(COLUMNS, &allocated);
    }
    __syncthreads();
    sums.data() = allocated;

    if (warp == 0) {
        if (elect_one_sync()) {
            Barrier::arrive_and_expect_tx(&arrived, sizeof(room));
            SM90_TMA_LOAD::copy(&A, &arrived, uint64_t(TMA::CacheHintSm90::EVICT_NORMAL),
                                raw_pointer_cast(tile_a.data()), 0, 0);
            SM90_TMA_LOAD::copy(&B, &arrived, uint64_t(TMA::CacheHintSm90::EVICT_NORMAL),
                                raw_pointer_cast(tile_b.data()), 0, 0);
        }
        Barrier::wait(&arrived, 0);
        mma.accumulate_ = UMMA::ScaleOut::Zero; // the first product writes the sums
        for (int k = 0; k < size<2>(a); ++k) {
            gemm(mma, a(_, _, k), b(_, _, k), sums); // elects a thread by itself
            mma.accumulate_ = UMMA::ScaleOut::One;
        }
        cutlass::arch::umma_arrive(&done); // and so does this
    }
    Barrier::wait(&done, 0);
    tmem_after_sync(); // CUTLASS has no word for it

    TiledCopy fetch = make_tmem_copy(SM100_TMEM_LOAD_32dp32b16x{}, sums);
    auto fetches = fetch.get_slice(threadIdx.x);
    Tensor to = fetches.partition_D(part_d);
    Tensor value = make_tensor<float>(shape(to));
    copy(fetch, fetches.partition_S(sums), value);
    cutlass::arch::fence_view_async_tmem_load();
    copy(value, to);
    __syncthreads(); // all have fetched
    if (warp == 0) {
        allocator.free(allocated, COLUMNS);
    }
}
