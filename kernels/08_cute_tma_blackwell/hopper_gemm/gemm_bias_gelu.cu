// C = GELU(A B^T + bias) for row-major bf16 matrices, A (M x K), B (N x K), C (M x N), and N
// numbers of bias in bf16; sums in fp32. Any M; N and K multiples of 8. Tensor maps as for
// gemm_hopper.
// Like gemm_hopper; bias and activation are added to sums in registers, so that C is written once
// and never read. GELU by the formula with tanh, as cuBLASLt has it.
// Limit: the tensor cores, and for large matrices the board's power.
// grid (at most the multiprocessors, a multiple of CLUSTER), block (384), dynamic shared STAGES * 49152 + 32768

#include "bf16_box.cuh"
#include "hopper_gemm.cuh"

__device__ inline float gelu(float x)
{
    float tangent, inner = 0.79788456f * (x + 0.044715f * x * x * x); // sqrt(2 / pi)
    asm("tanh.approx.f32 %0, %1;" : "=f"(tangent) : "f"(inner));
    return 0.5f * x * (1.0f + tangent);
}

struct Format {
    using Sum = float;
    static constexpr int kBytes = 2, kColumns = 64; // of an operand; of C in a box
    static constexpr int kLater = 4;                // boxes, all of a tile
    const __nv_bfloat162 *bias;
    int N;

    template <int kCount>
    __device__ static void multiply(float (&sum)[kCount], unsigned long long a,
                                    unsigned long long b, int add)
    {
        wgmma_bf16(sum, a, b, add);
    }

    __device__ void pack(unsigned (&packed)[kPacked], const float *sum, int column) const
    {
        float value[32];
        column += threadIdx.x % 4 * 2;
#pragma unroll
        for (int i = 0; i < 32; i += 4) { // two neighbours in each of two rows
            const int at = column + i * 2;
            const float2 two = at < N ? __bfloat1622float2(bias[at / 2]) : make_float2(0.0f, 0.0f);
            value[i] = gelu(sum[i] + two.x);
            value[i + 1] = gelu(sum[i + 1] + two.y);
            value[i + 2] = gelu(sum[i + 2] + two.x);
            value[i + 3] = gelu(sum[i + 3] + two.y);
        }
        pack_bf16(packed, value);
    }

    __device__ static void store(unsigned box, const unsigned (&packed)[kPacked])
    {
        store_packed_box(box, packed);
    }
};

extern "C" __global__ void CLUSTER_OF_KERNEL __launch_bounds__(kThreads, 1)
    gemm_bias_gelu(const __grid_constant__ TensorMap A, const __grid_constant__ TensorMap B,
                   const __grid_constant__ TensorMap C, const __nv_bfloat16 *bias, int M, int N,
                   int K)
{
    Format format{reinterpret_cast<const __nv_bfloat162 *>(bias), N};
    hopper_gemm(&A, &B, &C, M, N, K, format);
}
