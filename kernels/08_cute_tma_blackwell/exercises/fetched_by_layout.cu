// Y = max(A B^T + bias, 0) for bf16 matrices A (128 tiles x 64) and B (32 x 64), both with K
// contiguous, and fp32 bias (32) and Y (128 tiles x 32). A block computes 128 rows. `sums` is the
// accumulators' tensor in tensor memory, (rows, columns) with two modes of 1 after them, and
// `part_y` the same elements of Y. make_tmem_copy(SM100_TMEM_LOAD_32dp32b16x{}, sums) is the copy.
// Its slice has partition_S for sums and partition_D for Y. Fetched registers may be used after
// cutlass::arch::fence_view_async_tmem_load().
// grid (tiles), block (128), dynamic shared 0

#include <cute/tensor.hpp>
#include <cute/arch/tmem_allocator_sm100.hpp>
#include <cute/atom/copy_traits_sm100.hpp>
#include <cute/atom/mma_traits_sm100.hpp>
#include <cutlass/arch/barrier.h>
#include "ptx.cuh"
#include "tcgen05.cuh"

using namespace cute;

using Barrier = cutlass::arch::ClusterTransactionBarrier;
constexpr auto kHint = uint64_t(TMA::CacheHintSm90::EVICT_NORMAL);

extern "C" __global__ void fetched_by_layout(const __grid_constant__ TensorMap A,
                                             const __grid_constant__ TensorMap B, const float *bias,
                                             float *Y)
{
    auto mma = make_tiled_mma(SM100_MMA_F16BF16_SS<bfloat16_t, bfloat16_t, float, 128, 32,
                                                   UMMA::Major::K, UMMA::Major::K>{});
    auto products = mma.get_slice(0);
    UMMA::Layout_K_SW128_Atom<bfloat16_t> eight_rows;
    auto layout_a = UMMA::tile_to_mma_shape(eight_rows, partition_shape_A(mma, Shape<_128, _64>{}));
    auto layout_b = UMMA::tile_to_mma_shape(eight_rows, partition_shape_B(mma, Shape<_32, _64>{}));
    __shared__ __align__(1024) unsigned char room[(128 + 32) * 128];
    __shared__ uint64_t arrived, done;
    __shared__ uint32_t allocated;
    bfloat16_t *first = reinterpret_cast<bfloat16_t *>(room);
    Tensor a = products.make_fragment_A(make_tensor(make_smem_ptr(first), layout_a));
    Tensor b =
        products.make_fragment_B(make_tensor(make_smem_ptr(first + cosize(layout_a)), layout_b));
    Tensor y = make_tensor(make_gmem_ptr(Y + blockIdx.x * 128 * 32),
                           Layout<Shape<_128, _32>, Stride<_32, _1>>{});
    Tensor part_y = products.partition_C(y);
    Tensor sums = products.make_fragment_C(part_y);
    const int warp = threadIdx.x / 32;
    TMEM::Allocator1Sm allocator;
    if (threadIdx.x == 0) {
        Barrier::init(&arrived, 1);
        Barrier::init(&done, 1);
        cutlass::arch::fence_barrier_init();
    }
    if (warp == 0) {
        allocator.allocate(32, &allocated);
    }
    __syncthreads();
    sums.data() = allocated;
    if (warp == 0) {
        if (elect_one_sync()) {
            Barrier::arrive_and_expect_tx(&arrived, sizeof(room));
            SM90_TMA_LOAD::copy(&A, &arrived, kHint, first, 0, blockIdx.x * 128);
            SM90_TMA_LOAD::copy(&B, &arrived, kHint, first + cosize(layout_a), 0, 0);
        }
        Barrier::wait(&arrived, 0);
        mma.accumulate_ = UMMA::ScaleOut::Zero;
        for (int k = 0; k < size<2>(a); ++k) {
            gemm(mma, a(_, _, k), b(_, _, k), sums);
            mma.accumulate_ = UMMA::ScaleOut::One;
        }
        cutlass::arch::umma_arrive(&done);
    }
    // TODO: wait for the products, with the fence that CUTLASS has no word for. Fetch this thread's
    // sums by a copy from layouts, add the bias of each column, and store nothing below zero. Free
    // the columns of tensor memory
    // SOLUTION
    Barrier::wait(&done, 0);
    tmem_after_sync();
    auto fetch = make_tmem_copy(SM100_TMEM_LOAD_32dp32b16x{}, sums);
    auto mine = fetch.get_slice(threadIdx.x);
    Tensor to = mine.partition_D(part_y);
    Tensor value = make_tensor<float>(shape(to));
    copy(fetch, mine.partition_S(sums), value);
    cutlass::arch::fence_view_async_tmem_load();
    for (int i = 0; i < size(value); ++i) {
        value(i) = fmaxf(value(i) + bias[i], 0.0f); // a thread has a row, its columns in order
    }
    copy(value, to);
    __syncthreads(); // all have fetched
    if (warp == 0) {
        allocator.free(allocated, 32);
    }
    // END
}
