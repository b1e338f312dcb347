// C = A B^T group by group, bf16 and row-major: A (rows x K) has the tokens sorted by expert, B
// (experts x N x K) the weights, C is rows x N, with sums in fp32. N and K multiples of 8. table
// and *tiles come from scan_experts with ROWS 128.
// Adds to grouped_loop the table: one launch, in which a block looks up whose tile it has. The host
// doesn't know the counts, so the grid has the largest number of tiles there can be, and the blocks
// left over return.
// Limit: the tensor cores are fed by mma.sync, and a block ends with its tile.
// grid (ceil(N / 128), rows / 128 + experts), block (256), dynamic shared 98304

#include "expert_tile.cuh"

extern "C" __global__ void __launch_bounds__(kThreads)
    grouped_table(const __nv_bfloat16 *A, const __nv_bfloat16 *B, __nv_bfloat16 *C,
                  const int4 *table, const int *tiles, int N, int K)
{
    if (blockIdx.y >= *tiles) {
        return;
    }
    const int4 tile = table[blockIdx.y]; // expert, first row, end of its rows
    expert_tile(A, B + (size_t)tile.x * N * K, C, tile.y, tile.z, blockIdx.x * BN, N, K);
}
