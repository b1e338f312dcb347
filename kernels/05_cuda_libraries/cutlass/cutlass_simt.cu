// C = A * B in fp32 on the FP32 cores, by CUTLASS: A is M x K, B is K x N, all row by row, of any
// size. The template says what to build: a block's tile, a warp's, what an instruction does, what
// happens to the sums. Its parameters are made on the device here, so that no host code is needed.
// grid (ceil(M / BM), ceil(N / BN)), block 32 BM BN / (WM WN), dynamic shared 0

#include <cutlass/cutlass.h>
#include <cutlass/epilogue/thread/linear_combination.h>
#include <cutlass/gemm/kernel/default_gemm.h>
#include <cutlass/gemm/threadblock/threadblock_swizzle.h>

#ifndef BM
#define BM 128
#define BN 128
#define WM 32
#define WN 64
#endif
constexpr int BK = 8, kStages = 2;

using Row = cutlass::layout::RowMajor;
using Gemm = cutlass::gemm::kernel::DefaultGemm<
    float, Row, 1, float, Row, 1, // A and B, and how many elements an access moves
    float, Row, float,            // C, and the type of the sums
    cutlass::arch::OpClassSimt, cutlass::arch::Sm50, cutlass::gemm::GemmShape<BM, BN, BK>,
    cutlass::gemm::GemmShape<WM, WN, BK>, cutlass::gemm::GemmShape<1, 1, 1>,
    cutlass::epilogue::thread::LinearCombination<float, 1, float, float>,
    cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>, kStages, false,
    cutlass::arch::OpMultiplyAdd>::GemmKernel;

extern "C" __global__ void __launch_bounds__(Gemm::kThreadCount)
    cutlass_simt(float *a, float *b, float *c, int M, int N, int K)
{
    __shared__ typename Gemm::SharedStorage storage;
    const cutlass::gemm::GemmCoord size(M, N, K), tiles((M + BM - 1) / BM, (N + BN - 1) / BN, 1);
    const typename Gemm::Params params(size, tiles, {a, K}, {b, N}, {c, N}, {c, N}, {1.0f, 0.0f});
    Gemm{}(params, storage);
}
