// The first half of every expert: H = silu(A G^T) * (A U^T) group by group, bf16 and row-major. A
// (rows x K) has the tokens sorted by expert, B (experts x 2 N x K) holds G and then U of each
// expert, H is rows x N, with sums and the gate in fp32. The rest is as in grouped_hopper.
// Adds to grouped_hopper the gate: a tile of 256 columns has 128 of G and the same 128 of U, so
// that a thread has both numbers of a result among its sums, and H alone is stored.
// Limit: the exponentials pass between two tiles, when no product is under way.
// grid (at most the multiprocessors), block (384), dynamic shared STAGES * 49152 + 32768

#include "grouped_gemm.cuh"

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    grouped_swiglu(const __grid_constant__ TensorMap A, const __grid_constant__ TensorMap B,
                   const __grid_constant__ TensorMap C, __nv_bfloat16 *rows_of_C, const int4 *table,
                   const int *tiles, int N, int K)
{
    grouped_gemm<true>(&A, &B, &C, rows_of_C, table, *tiles, N, K);
}
