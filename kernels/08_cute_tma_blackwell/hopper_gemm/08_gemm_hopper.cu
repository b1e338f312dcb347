// C = A B^T for row-major bf16 matrices, A (M x K), B (N x K), C (M x N); sums in fp32. Any M; N
// and K multiples of 8. A, B and C come as tensor maps with boxes of 128 x 64, 256 / CLUSTER x 64
// and 16 x 64, swizzle 128 bytes.
// Adds to gemm_multicast the way out: sums go through shared memory, and TMA stores whole rows of
// 128 bytes. Rounded, they wait in registers until the next tile's products are under way. A product
// is still running when the next one is issued.
// Limit: the tensor cores, and for large matrices the board's power.
// grid (at most the multiprocessors, a multiple of CLUSTER), block (384), dynamic shared STAGES * 49152 + 32768

#include "bf16_box.cuh"
#include "hopper_gemm.cuh"

struct Format {
    using Sum = float;
    static constexpr int kBytes = 2, kColumns = 64; // of an operand; of C in a box
    static constexpr int kLater = 4;                // boxes, all of a tile

    template <int kCount>
    __device__ static void multiply(float (&sum)[kCount], unsigned long long a,
                                    unsigned long long b, int add)
    {
        wgmma_bf16(sum, a, b, add);
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
    gemm_hopper(const __grid_constant__ TensorMap A, const __grid_constant__ TensorMap B,
                const __grid_constant__ TensorMap C, int M, int N, int K)
{
    hopper_gemm(&A, &B, &C, M, N, K, Format{});
}
