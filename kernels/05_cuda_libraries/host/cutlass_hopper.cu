// A library for Python: C = A * B in bf16 with fp32 sums, for Hopper, by CUTLASS's builders. One says
// what the operands are and how large a tile; they choose wgmma, TMA copies, the number of stages and
// the roles of the warps. A is M x K row by row, B is K x N column by column, C is M x N row by row;
// rows and columns are multiples of 8 elements.
// Build: nvcc -std=c++17 -O3 -arch=sm_90a --expt-relaxed-constexpr -shared -Xcompiler -fPIC
//        -I<cutlass>/include -I<cutlass>/tools/util/include cutlass_hopper.cu -o libhopper.so

#include <cutlass/cutlass.h>
#include <cutlass/epilogue/collective/collective_builder.hpp>
#include <cutlass/gemm/collective/collective_builder.hpp>
#include <cutlass/gemm/device/gemm_universal_adapter.h>
#include <cutlass/gemm/kernel/gemm_universal.hpp>
#include <cutlass/util/packed_stride.hpp>

using namespace cute;
using bf16 = cutlass::bfloat16_t;
using Row = cutlass::layout::RowMajor;
using Column = cutlass::layout::ColumnMajor;
using BlockTile = Shape<_128, _256, _64>;
using Cluster = Shape<_2, _1, _1>;
constexpr int kAlign = 8; // elements, of 16 bytes together

using Epilogue = cutlass::epilogue::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, BlockTile, Cluster,
    cutlass::epilogue::collective::EpilogueTileAuto, float, float, void, Row, kAlign, bf16, Row,
    kAlign, cutlass::epilogue::TmaWarpSpecializedCooperative>::CollectiveOp;
using Mainloop = cutlass::gemm::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, bf16, Row, kAlign, bf16, Column, kAlign,
    float, BlockTile, Cluster,
    cutlass::gemm::collective::StageCountAutoCarveout<sizeof(typename Epilogue::SharedStorage)>,
    cutlass::gemm::KernelTmaWarpSpecializedCooperative>::CollectiveOp;
using Kernel = cutlass::gemm::kernel::GemmUniversal<Shape<int, int, int, int>, Mainloop, Epilogue>;
using Gemm = cutlass::gemm::device::GemmUniversalAdapter<Kernel>;

typename Gemm::Arguments arguments(const bf16 *a, const bf16 *b, bf16 *c, int m, int n, int k)
{
    const auto stride_a = cutlass::make_cute_packed_stride(typename Kernel::StrideA{}, {m, k, 1});
    const auto stride_b = cutlass::make_cute_packed_stride(typename Kernel::StrideB{}, {n, k, 1});
    const auto stride_c = cutlass::make_cute_packed_stride(typename Kernel::StrideC{}, {m, n, 1});
    const auto stride_d = cutlass::make_cute_packed_stride(typename Kernel::StrideD{}, {m, n, 1});
    return {cutlass::gemm::GemmUniversalMode::kGemm,
            {m, n, k, 1},
            {a, stride_a, b, stride_b},
            {{1.0f, 0.0f}, nullptr, stride_c, c, stride_d}};
}

// The bytes of memory that the product needs beside its operands.
extern "C" size_t workspace_bytes(int m, int n, int k)
{
    return Gemm::get_workspace_size(arguments(nullptr, nullptr, nullptr, m, n, k));
}

// What a block takes: bytes of shared memory, threads, and stages of the pipeline.
extern "C" void describe(int *of_block)
{
    of_block[0] = Kernel::SharedStorageSize;
    of_block[1] = Kernel::MaxThreadsPerBlock;
    of_block[2] = Mainloop::DispatchPolicy::Stages;
}

// Starts the product on the default stream. Returns CUTLASS's status: 0 where all is well.
extern "C" int product(const bf16 *a, const bf16 *b, bf16 *c, int m, int n, int k, void *workspace)
{
    const auto given = arguments(a, b, c, m, n, k);
    Gemm gemm;
    cutlass::Status status = gemm.can_implement(given);
    if (status == cutlass::Status::kSuccess) {
        status = gemm.initialize(given, workspace);
    }
    if (status == cutlass::Status::kSuccess) {
        status = gemm.run();
    }
    return static_cast<int>(status);
}

// The status as a word.
extern "C" const char *status_word(int status)
{
    return cutlassGetStatusString(static_cast<cutlass::Status>(status));
}
