// C = gelu(A B^T + bias) for row-major matrices: A (M x K), B (N x K), C (M x N) in bf16; bias has a
// float for each of the N columns. N is even, and K is a multiple of eight. Boxes of A are 64 x 64,
// of B 32 x 64, with a swizzle of 128 bytes.
// grid (ceil(N / 32), ceil(M / 64)), block (128), dynamic shared 0

#include <cuda_bf16.h>
#include "ptx.cuh"
#include "tma.cuh"
#include "wgmma.cuh"

constexpr int kTileA = 64 * 128, kTileB = 32 * 128; // bytes

// x times the part of a normal distribution that lies below x, by its usual approximation.
__device__ inline float gelu(float x)
{
    return 0.5f * x * (1.0f + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
}

extern "C" __global__ void bias_and_gelu(const __grid_constant__ TensorMap A,
                                         const __grid_constant__ TensorMap B, const float *bias,
                                         __nv_bfloat16 *C, int M, int N, int K)
{
    __shared__ __align__(1024) unsigned char a[kTileA], b[kTileB];
    __shared__ unsigned long long arrived;
    const unsigned barrier = shared_address(&arrived);
    const int first_row = blockIdx.y * 64, first_column = blockIdx.x * 32;
    if (threadIdx.x == 0) {
        mbarrier_init(barrier, 1);
        mbarriers_are_ready();
    }
    __syncthreads();
    float sum[16];
    for (int step = 0; step < (K + 63) / 64; ++step) {
        if (threadIdx.x == 0) {
            mbarrier_expect(barrier, kTileA + kTileB);
            tma_load(shared_address(a), &A, step * 64, first_row, barrier);
            tma_load(shared_address(b), &B, step * 64, first_column, barrier);
        }
        mbarrier_wait(barrier, step % 2);
        wgmma_fence();
        for (int k = 0; k < 4; ++k) {
            wgmma_bf16(sum, wgmma_tile(shared_address(a)) + 2 * k,
                       wgmma_tile(shared_address(b)) + 2 * k, step > 0 || k > 0);
        }
        wgmma_commit();
        wgmma_wait<0>();
        __syncthreads();
    }
    keep_in_order(sum);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    // TODO: store gelu(sum + bias) of the column, two neighbours at once as a __nv_bfloat162,
    // where they exist: __floats2bfloat162_rn(left, right)
    // SOLUTION
    for (int i = 0; i < 16; i += 2) {
        const int row = first_row + warp * 16 + lane / 4 + i / 2 % 2 * 8;
        const int column = first_column + i / 4 * 8 + lane % 4 * 2;
        if (row < M && column < N) {
            const float left = gelu(sum[i] + bias[column]);
            const float right = gelu(sum[i + 1] + bias[column + 1]);
            auto pair = reinterpret_cast<__nv_bfloat162 *>(C + (size_t)row * N + column);
            *pair = __floats2bfloat162_rn(left, right);
        }
    }
    // END
}
