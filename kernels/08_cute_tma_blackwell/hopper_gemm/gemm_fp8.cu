// C = A B^T for row-major fp8 matrices (e4m3), A (M x K), B (N x K); C (M x N) in bf16, sums in
// fp32. Any M; N a multiple of 8, K of 16. Tensor maps as for gemm_hopper, with 128 elements in a
// row of A and B.
// Like gemm_hopper with another wgmma: half the bytes, twice the products in the same time.
// Limit: the tensor cores, which keep fewer bits of these sums, and the board's power.
// grid (at most the multiprocessors, a multiple of CLUSTER), block (384), dynamic shared STAGES * 49152 + 32768

#include "bf16_box.cuh"
#include "hopper_gemm.cuh"

struct Format {
    using Sum = float;
    static constexpr int kBytes = 1, kColumns = 64; // of an operand; of C in a box
    static constexpr int kLater = 4;                // boxes, all of a tile

    template <int kCount>
    __device__ static void multiply(float (&sum)[kCount], unsigned long long a,
                                    unsigned long long b, int add)
    {
        wgmma_e4m3(sum, a, b, add);
    }

    __device__ static void pack(unsigned (&packed)[kPacked], const float *sum, int)
    {
        pack_bf16(packed, sum);
    }

    __device__ static void store(unsigned box, const unsigned (&packed)[kPacked])
    {
        store_packed_box(box, packed);
    }
};

extern "C" __global__ void CLUSTER_OF_KERNEL __launch_bounds__(kThreads, 1)
    gemm_fp8(const __grid_constant__ TensorMap A, const __grid_constant__ TensorMap B,
             const __grid_constant__ TensorMap C, int M, int N, int K)
{
    hopper_gemm(&A, &B, &C, M, N, K, Format{});
}
