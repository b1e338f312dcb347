// C = A B^T for row-major bf16 matrices, A (M x K), B (N x K), C (M x N), with sums in fp32. M is
// any number, N and K are multiples of 8, M N is below 2^31. A and B come as tensor maps with boxes
// of 128 x 64 and a swizzle of 128 bytes.
// The kernel gemm_producer in CuTe, its ring by CUTLASS: a PipelineTmaAsync has the two barriers
// of each stage, and a PipelineState says which stage is next and in which phase.
// Limit: the `if` around the release makes ptxas serialize these products. Notebook 14 shows it.
// grid (ceil(N / 128), ceil(M / 128)), block (256), dynamic shared STAGES * (128 + 128) * 128

#include <cute/tensor.hpp>
#include <cutlass/arch/reg_reconfig.h>
#include <cutlass/pipeline/sm90_pipeline.hpp>
#include "cute_store.cuh"
#include "tma.cuh"

using namespace cute;

#ifndef STAGES
#define STAGES 5
#endif

constexpr int BM = 128, BN = 128, BK = 64;
constexpr int kConsumers = 128; // threads; as many more are the producer's warpgroup
using Pipeline = cutlass::PipelineTmaAsync<STAGES>;
using Role = Pipeline::ThreadCategory;

extern "C" __global__ void __launch_bounds__(kConsumers + 128, 1)
    cute_pipeline(const __grid_constant__ TensorMap A, const __grid_constant__ TensorMap B,
                  bfloat16_t *C, int M, int N, int K)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    __shared__ __align__(16) unsigned char room[sizeof(Pipeline::SharedStorage)];
    auto &barriers = *reinterpret_cast<Pipeline::SharedStorage *>(room); // it has no constructor
    GMMA::Layout_K_SW128_Atom<bfloat16_t> eight_rows;
    auto layout_a = tile_to_shape(eight_rows, Shape<Int<BM>, Int<BK>, Int<STAGES>>{});
    auto layout_b = tile_to_shape(eight_rows, Shape<Int<BN>, Int<BK>, Int<STAGES>>{});
    bfloat16_t *first = reinterpret_cast<bfloat16_t *>(memory);
    Tensor stages_a = make_tensor(make_smem_ptr(first), layout_a); // (rows, k, stages)
    Tensor stages_b = make_tensor(make_smem_ptr(first + cosize(layout_a)), layout_b);

    const bool produces = threadIdx.x >= kConsumers;
    Pipeline::Params params;
    params.transaction_bytes = (BM + BN) * BK * sizeof(bfloat16_t);
    params.role = produces ? Role::Producer : Role::Consumer;
    params.is_leader = threadIdx.x == kConsumers;
    params.num_consumers = kConsumers;
    Pipeline pipeline(barriers, params, Shape<_1, _1, _1>{}); // warp 0 makes the barriers
    __syncthreads();
    const int steps = ceil_div(K, BK);

    if (produces) {
        cutlass::arch::warpgroup_reg_dealloc<40>();
        auto next = cutlass::make_producer_start_state<Pipeline>();
        for (int step = 0; threadIdx.x == kConsumers && step < steps; ++step, ++next) {
            pipeline.producer_acquire(next); // waits until the stage is empty, expects its bytes
            uint64_t *full = pipeline.producer_get_barrier(next);
            SM90_TMA_LOAD::copy(&A, full, uint64_t(TMA::CacheHintSm90::EVICT_NORMAL),
                                &stages_a(0, 0, next.index()), step * BK, blockIdx.y * BM);
            SM90_TMA_LOAD::copy(&B, full, uint64_t(TMA::CacheHintSm90::EVICT_NORMAL),
                                &stages_b(0, 0, next.index()), step * BK, blockIdx.x * BN);
        }
        return;
    }

    cutlass::arch::warpgroup_reg_alloc<232>(); // the consumer
    auto mma = make_tiled_mma(SM90_64x128x16_F32BF16BF16_SS<GMMA::Major::K, GMMA::Major::K>{});
    auto products = mma.get_slice(threadIdx.x);
    Tensor a = products.make_fragment_A(products.partition_A(stages_a)); // (1, tiles, k, stages)
    Tensor b = products.make_fragment_B(products.partition_B(stages_b));
    Tensor sum = partition_fragment_C(mma, Shape<Int<BM>, Int<BN>>{});
    mma.accumulate_ = GMMA::ScaleOut::Zero; // the first product writes the sums
    cutlass::PipelineState<STAGES> read, done;
    for (int step = 0; step < steps; ++step, ++read) {
        pipeline.consumer_wait(read);
        warpgroup_fence_operand(sum);
        warpgroup_arrive();
        CUTE_UNROLL
        for (int k = 0; k < size<2>(a); ++k) {
            gemm(mma, a(_, _, k, read.index()), b(_, _, k, read.index()), sum);
            mma.accumulate_ = GMMA::ScaleOut::One;
        }
        warpgroup_commit_batch();
        warpgroup_wait<1>(); // the products of the step before are done
        if (step > 0) {
            pipeline.consumer_release(done);
            ++done;
        }
    }
    warpgroup_wait<0>();
    warpgroup_fence_operand(sum);

    Tensor all_c = make_tensor(make_gmem_ptr(C), make_shape(M, N), make_stride(N, _1{}));
    auto tile = Shape<Int<BM>, Int<BN>>{};
    auto place = make_coord(blockIdx.y, blockIdx.x);
    Tensor part_c = products.partition_C(local_tile(all_c, tile, place));
    Tensor at = products.partition_C(local_tile(make_identity_tensor(shape(all_c)), tile, place));
    store_inside(sum, part_c, at, shape(all_c));
}
