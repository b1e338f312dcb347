// A library for Python: C = GELU(A B^T + bias) in bf16 with fp32 sums, for Hopper, by CUTLASS's
// builders. The epilogue is a tree: each node is a small type with an operation, and its children
// give the operands. A is M x K, B is N x K, C is M x N, all row by row, and bias has N numbers. N
// and K are multiples of 8.
// Build: nvcc -std=c++17 -O3 -DNDEBUG -arch=sm_90a --expt-relaxed-constexpr -shared -Xcompiler
//        -fPIC -I<cutlass>/include -I<cutlass>/tools/util/include cutlass_visitors.cu -o libvisitors.so

#include <cutlass/cutlass.h>
#include <cutlass/epilogue/collective/collective_builder.hpp>
#include <cutlass/epilogue/thread/activation.h>
#include <cutlass/gemm/collective/collective_builder.hpp>
#include <cutlass/gemm/device/gemm_universal_adapter.h>
#include <cutlass/gemm/kernel/gemm_universal.hpp>
#include <cutlass/util/packed_stride.hpp>

using namespace cute;
using bf16 = cutlass::bfloat16_t;
using Row = cutlass::layout::RowMajor;
using Column = cutlass::layout::ColumnMajor; // B^T is K x N, column by column
using BlockTile = Shape<_128, _256, _64>;
using Cluster = Shape<_2, _1, _1>;
constexpr int kAlign = 8; // elements, of 16 bytes together
constexpr auto kRound = cutlass::FloatRoundStyle::round_to_nearest;

// The tree: gelu(sums + bias), from the leaves up.
using Sums = cutlass::epilogue::fusion::Sm90AccFetch;
using Bias = cutlass::epilogue::fusion::Sm90RowBroadcast<0, BlockTile, bf16>; // one for each column
using Add = cutlass::epilogue::fusion::Sm90Compute<cutlass::plus, float, float, kRound>;
using Gelu = cutlass::epilogue::fusion::Sm90Compute<cutlass::epilogue::thread::GELU_taylor, bf16,
                                                    float, kRound>;
using Tree =
    cutlass::epilogue::fusion::Sm90EVT<Gelu, cutlass::epilogue::fusion::Sm90EVT<Add, Sums, Bias>>;

using Epilogue = cutlass::epilogue::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, BlockTile, Cluster,
    cutlass::epilogue::collective::EpilogueTileAuto, float, float, void, Row, kAlign, bf16, Row,
    kAlign, cutlass::epilogue::TmaWarpSpecializedCooperative, Tree>::CollectiveOp;
using Mainloop = cutlass::gemm::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, bf16, Row, kAlign, bf16, Column, kAlign,
    float, BlockTile, Cluster,
    cutlass::gemm::collective::StageCountAutoCarveout<sizeof(typename Epilogue::SharedStorage)>,
    cutlass::gemm::KernelTmaWarpSpecializedCooperative>::CollectiveOp;
using Kernel = cutlass::gemm::kernel::GemmUniversal<Shape<int, int, int, int>, Mainloop, Epilogue>;
using Gemm = cutlass::gemm::device::GemmUniversalAdapter<Kernel>;

typename Gemm::Arguments arguments(const bf16 *a, const bf16 *b, const bf16 *bias, bf16 *c, int m,
                                   int n, int k)
{
    const auto stride_a = cutlass::make_cute_packed_stride(typename Kernel::StrideA{}, {m, k, 1});
    const auto stride_b = cutlass::make_cute_packed_stride(typename Kernel::StrideB{}, {n, k, 1});
    const auto stride_c = cutlass::make_cute_packed_stride(typename Kernel::StrideC{}, {m, n, 1});
    const auto stride_d = cutlass::make_cute_packed_stride(typename Kernel::StrideD{}, {m, n, 1});
    // A tree takes the arguments of its children, then the arguments of its operation.
    const typename Tree::Arguments tree = {{{}, {bias}, {}}, {}};
    return {cutlass::gemm::GemmUniversalMode::kGemm,
            {m, n, k, 1},
            {a, stride_a, b, stride_b},
            {tree, nullptr, stride_c, c, stride_d}};
}

// The bytes of memory that the product needs beside its operands.
extern "C" size_t workspace_bytes(int m, int n, int k)
{
    return Gemm::get_workspace_size(arguments(nullptr, nullptr, nullptr, nullptr, m, n, k));
}

// Writes a block's bytes of shared memory, its threads, and the stages of its pipeline.
extern "C" void describe(int *of_block)
{
    of_block[0] = Kernel::SharedStorageSize;
    of_block[1] = Kernel::MaxThreadsPerBlock;
    of_block[2] = Mainloop::DispatchPolicy::Stages;
}

// Starts the product on `stream`. Returns CUTLASS's status: 0 where all is well.
extern "C" int product(const bf16 *a, const bf16 *b, const bf16 *bias, bf16 *c, int m, int n, int k,
                       void *workspace, cudaStream_t stream)
{
    const auto given = arguments(a, b, bias, c, m, n, k);
    Gemm gemm;
    cutlass::Status status = gemm.can_implement(given);
    if (status == cutlass::Status::kSuccess) {
        status = gemm.initialize(given, workspace, stream);
    }
    if (status == cutlass::Status::kSuccess) {
        status = gemm.run(stream);
    }
    return static_cast<int>(status);
}

// The status as a word.
extern "C" const char *status_word(int status)
{
    return cutlassGetStatusString(static_cast<cutlass::Status>(status));
}
