// C = A B^T for row-major int8 matrices: A is M x K, B is N x K; C is M x N of int32, exact. Whole
// tiles only: M a multiple of BM, N of BN and K of 128. partial holds 2 BM BN ints for each block;
// arrived as in gemm_bf16_specialized.
// Like gemm_bf16_specialized with another mma: integers, and twice the elements in a row.
// Limit: the rate of mma.sync, and over seconds the board's power cap. sm_90a only.
// grid (multiprocessors, at most all steps), block (384), dynamic shared STAGES * (BM + BN) * 128

#include "specialized_gemm.cuh"

struct Format {
    using Result = int;
    using Sum = int;
    using Four = int4;
    static constexpr int kBytes = 1; // of an operand

    __device__ static void mma(int (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
    {
        mma_s8(sum, a, b0, b1);
    }
    __device__ static void store(int *at, int quarter, const int *left, const int *right)
    {
        *reinterpret_cast<int2 *>(at + quarter * 2) = make_int2(left[0], left[1]);
        *reinterpret_cast<int2 *>(at + 8 + quarter * 2) = make_int2(right[0], right[1]);
    }
};

extern "C" __global__ void __launch_bounds__(kThreads + kProducerThreads, 1)
    gemm_int8_specialized(const __grid_constant__ TensorMap A, const __grid_constant__ TensorMap B,
                          int *C, int *partial, int *arrived, int M, int N, int K)
{
    specialized_gemm<Format>(&A, &B, C, partial, arrived, M, N, K);
}
