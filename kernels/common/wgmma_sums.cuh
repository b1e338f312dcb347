// The way of wgmma's sums from registers to global memory.

#pragma once

#include <cuda_bf16.h>

// Rounds the sums of a warpgroup, 64 rows of kCount * 2 columns, to bf16 and stores those
// inside the M x N matrix C. N is even.
template <int kCount>
__device__ inline void store_sums(const float (&sum)[kCount], __nv_bfloat16 *C, int first_row,
                                  int first_column, int M, int N)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
#pragma unroll
    for (int i = 0; i < kCount; i += 2) { // two neighbours in a row
        const int row = first_row + warp * 16 + lane / 4 + i / 2 % 2 * 8;
        const int column = first_column + i / 4 * 8 + lane % 4 * 2;
        if (row < M && column < N) {
            const __nv_bfloat162 pair = __floats2bfloat162_rn(sum[i], sum[i + 1]);
            *reinterpret_cast<__nv_bfloat162 *>(C + (size_t)row * N + column) = pair;
        }
    }
}
