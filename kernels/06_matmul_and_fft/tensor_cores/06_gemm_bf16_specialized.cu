// C = A B^T for row-major bf16 matrices: A is M x K, B is N x K, C is M x N; sums in fp32. Whole
// tiles only: M a multiple of BM, N of BN and K of 64. partial holds 2 BM BN floats for each block,
// arrived an int for each tile of C, zeros; it is zero again at the end.
// Adds to gemm_bf16_pipeline: producer warps issue the copies, and consumer warps only multiply.
// TMA copies whole tiles, mbarriers hand them over, and the tile scheduler splits the last tiles
// evenly.
// Limit: the rate of mma.sync, and the power it takes on random numbers. sm_90a only.
// grid (multiprocessors, at most all steps), block (384), dynamic shared STAGES * (BM + BN) * 128

#include <cuda_bf16.h>
#include "specialized_gemm.cuh"

struct Format {
    using Result = __nv_bfloat16;
    using Sum = float;
    using Four = float4;
    static constexpr int kBytes = 2; // of an operand

    __device__ static void mma(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
    {
        mma_bf16(sum, a, b0, b1);
    }
    // Two lanes exchange pairs, so that each has four neighbours: the even one of the left half,
    // the odd one of the right half. The warp then writes whole sectors, 32 bytes of a row at once.
    __device__ static void store(__nv_bfloat16 *at, int quarter, const float *left,
                                 const float *right)
    {
        unsigned pair[2] = {packed(left), packed(right)};
        int half = quarter % 2; // that the lane stores
        unsigned other = __shfl_xor_sync(0xffffffff, half == 0 ? pair[1] : pair[0], 1);
        uint2 four = half == 0 ? make_uint2(pair[0], other) : make_uint2(other, pair[1]);
        *reinterpret_cast<uint2 *>(at + half * 8 + quarter / 2 * 4) = four;
    }
    __device__ static unsigned packed(const float *two)
    {
        unsigned bits;
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(two[1]), "f"(two[0]));
        return bits;
    }
};

extern "C" __global__ void __launch_bounds__(kThreads + kProducerThreads, 1)
    gemm_bf16_specialized(const __grid_constant__ TensorMap A, const __grid_constant__ TensorMap B,
                          __nv_bfloat16 *C, float *partial, int *arrived, int M, int N, int K)
{
    specialized_gemm<Format>(&A, &B, C, partial, arrived, M, N, K);
}
