// C = max(A * B, 0) in bf16 with fp32 sums on tensor cores, by CUTLASS: A is M x K row by row, B is
// K x N column by column, C is M x N row by row, in fp32; K is a multiple of 8 and N of 4. Other words
// in the template of cutlass_simt: mma.sync, a ring of stages filled by cp.async, a ReLU at the end.
// grid (ceil(M / BM), ceil(N / BN)), block 32 BM BN / (WM WN), dynamic shared 64 STAGES (BM + BN)

#include <cutlass/cutlass.h>
#include <cutlass/epilogue/thread/linear_combination_relu.h>
#include <cutlass/gemm/kernel/default_gemm.h>
#include <cutlass/gemm/threadblock/threadblock_swizzle.h>

#ifndef BM
#define BM 128
#define BN 128
#define WM 64
#define WN 64
#endif
#ifndef STAGES
#define STAGES 3
#endif
constexpr int BK = 32;

using bf16 = cutlass::bfloat16_t;
using Row = cutlass::layout::RowMajor;
using Column = cutlass::layout::ColumnMajor;
using Gemm = cutlass::gemm::kernel::DefaultGemm<
    bf16, Row, 8, bf16, Column, 8, float, Row, float, cutlass::arch::OpClassTensorOp,
    cutlass::arch::Sm80, cutlass::gemm::GemmShape<BM, BN, BK>, cutlass::gemm::GemmShape<WM, WN, BK>,
    cutlass::gemm::GemmShape<16, 8, 16>,
    cutlass::epilogue::thread::LinearCombinationRelu<float, 4, float, float>,
    cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>, STAGES, false,
    cutlass::arch::OpMultiplyAdd>::GemmKernel;

extern "C" __global__ void __launch_bounds__(Gemm::kThreadCount)
    cutlass_tensor_op(bf16 *a, bf16 *b, float *c, int M, int N, int K)
{
    extern __shared__ char dynamic[];
    auto &storage = *reinterpret_cast<typename Gemm::SharedStorage *>(dynamic);
    const cutlass::gemm::GemmCoord size(M, N, K), tiles((M + BM - 1) / BM, (N + BN - 1) / BN, 1);
    const typename Gemm::Params params(size, tiles, {a, K}, {b, K}, {c, N}, {c, N}, {1.0f, 0.0f});
    Gemm{}(params, storage);
}
