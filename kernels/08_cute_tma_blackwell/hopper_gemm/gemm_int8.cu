// C = A B^T for row-major int8 matrices, A (M x K), B (N x K); C (M x N) of int32, exact. Any M; N
// a multiple of 4, K of 16. A, B and C come as tensor maps with boxes of 128 x 128, 256 / CLUSTER x
// 128 and 16 x 32, swizzle 128 bytes.
// Like gemm_hopper with another wgmma. A result has four bytes, so C is the larger part of what
// moves.
// Limit: the tensor cores, and the board's power.
// grid (at most the multiprocessors, a multiple of CLUSTER), block (384), dynamic shared STAGES * 49152 + 32768

#include "hopper_gemm.cuh"

struct Format {
    using Sum = int;
    static constexpr int kBytes = 1, kColumns = 32; // of an operand; of C in a box
    static constexpr int kLater = 5;                // boxes of 8: there are no registers for more

    template <int kCount>
    __device__ static void multiply(int (&sum)[kCount], unsigned long long a, unsigned long long b,
                                    int add)
    {
        wgmma_s8(sum, a, b, add);
    }

    __device__ static void pack(unsigned (&packed)[kPacked], const int *sum, int)
    {
#pragma unroll
        for (int i = 0; i < kPacked; ++i) {
            packed[i] = sum[i];
        }
    }

    __device__ static void store(unsigned box, const unsigned (&packed)[kPacked])
    {
        const int lane = threadIdx.x % 32;
#pragma unroll
        for (int i = 0; i < 16; i += 2) { // two neighbours each: 8 bytes, half a chunk
            const int row = lane / 4 + i / 2 % 2 * 8, chunk = i / 4 * 2 + lane % 4 / 2;
            const unsigned at = box + row * 128 + (chunk ^ row % 8) * 16 + lane % 2 * 8;
            store_shared_2(at, packed[i], packed[i + 1]);
        }
    }

    // st.shared: two integers, to a multiple of 8.
    __device__ static void store_shared_2(unsigned to, unsigned first, unsigned second)
    {
        asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(to), "r"(first), "r"(second)
                     : "memory");
    }
};

extern "C" __global__ void CLUSTER_OF_KERNEL __launch_bounds__(kThreads, 1)
    gemm_int8(const __grid_constant__ TensorMap A, const __grid_constant__ TensorMap B,
              const __grid_constant__ TensorMap C, int M, int N, int K)
{
    hopper_gemm(&A, &B, &C, M, N, K, Format{});
}
