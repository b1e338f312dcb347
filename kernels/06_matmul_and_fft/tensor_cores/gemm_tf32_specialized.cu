// C = A B^T for row-major fp32 matrices: A is M x K, B is N x K, C is M x N; the operands are
// rounded to TF32, sums stay in fp32. Whole tiles only: M a multiple of BM, N of BN and K of 32.
// partial and arrived as in gemm_bf16_specialized.
// Like gemm_bf16_specialized with another mma: an element is four bytes wide, so that a row of a
// tile holds half as many. TMA rounds to TF32 on the way, if the tensor maps say so (tf32=True).
// Limit: the same; half as many FLOPs in an instruction. sm_90a only.
// grid (multiprocessors, at most all steps), block (384), dynamic shared STAGES * (BM + BN) * 128

#include "specialized_gemm.cuh"

struct Format {
    using Result = float;
    using Sum = float;
    using Four = float4;
    static constexpr int kBytes = 4; // of an operand

    __device__ static void mma(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
    {
        mma_tf32(sum, a, b0, b1);
    }
    __device__ static void store(float *at, int quarter, const float *left, const float *right)
    {
        *reinterpret_cast<float2 *>(at + quarter * 2) = make_float2(left[0], left[1]);
        *reinterpret_cast<float2 *>(at + 8 + quarter * 2) = make_float2(right[0], right[1]);
    }
};

extern "C" __global__ void __launch_bounds__(kThreads + kProducerThreads, 1)
    gemm_tf32_specialized(const __grid_constant__ TensorMap A, const __grid_constant__ TensorMap B,
                          float *C, float *partial, int *arrived, int M, int N, int K)
{
    specialized_gemm<Format>(&A, &B, C, partial, arrived, M, N, K);
}
