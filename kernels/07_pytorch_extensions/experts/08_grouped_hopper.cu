// C = A B^T group by group, bf16 and row-major: A (rows x K) has the tokens sorted by expert, B
// (experts x N x K) the weights, C is rows x N, with sums in fp32. N and K multiples of 8. table
// and *tiles come from scan_experts with ROWS 128. A, B and C come as tensor maps as well, B as
// experts * N x K: boxes of 128 x 64, 128 x 64 and 16 x 64, swizzle 128 bytes.
// Adds to grouped_table the machinery of gemm_hopper: TMA, wgmma, and a block for each
// multiprocessor that takes tile after tile, whichever expert it belongs to.
// Limit: a group of a few rows costs a whole tile of 64.
// grid (at most the multiprocessors), block (384), dynamic shared STAGES * 49152 + 32768

#include "grouped_gemm.cuh"

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    grouped_hopper(const __grid_constant__ TensorMap A, const __grid_constant__ TensorMap B,
                   const __grid_constant__ TensorMap C, __nv_bfloat16 *rows_of_C, const int4 *table,
                   const int *tiles, int N, int K)
{
    grouped_gemm<false>(&A, &B, &C, rows_of_C, table, *tiles, N, K);
}
