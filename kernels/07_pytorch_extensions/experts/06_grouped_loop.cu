// C = A B^T for one expert, bf16 and row-major: A has its M tokens (M x K), B its weights (N x K),
// C is M x N, with sums in fp32. N and K are multiples of 8, and M has at most 65,535 blocks. The
// host launches it once for every expert that has tokens.
// The idea: the experts are independent, so the ordinary GEMM of gemm_bf16_pipeline is right.
// Limit: the host has to know every M, and a launch of few tiles leaves most of the GPU idle.
// grid (ceil(N / 128), ceil(M / 128)), block (256), dynamic shared 98304

#include "expert_tile.cuh"

extern "C" __global__ void __launch_bounds__(kThreads)
    grouped_loop(const __nv_bfloat16 *A, const __nv_bfloat16 *B, __nv_bfloat16 *C, int M, int N,
                 int K)
{
    expert_tile(A, B, C, blockIdx.y * BM, M, blockIdx.x * BN, N, K);
}
