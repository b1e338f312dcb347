// What the backward pass of attention needs of each row of each head: rows[h][i] holds lse times
// log2 e, and the sum over the row of dO times O. O and dO are tokens x heads x D in bf16, lse is
// heads x tokens in fp32, rows is heads x tokens x 2. D is a multiple of 64, fewer than 2^31 rows.
// The first of three kernels; the sum, delta (D in the papers), is what softmax's gradient takes of
// all keys.
// Limit: reading O and dO once. A warp has a row.
// grid (ceil(tokens * heads / 8)), block (256), dynamic shared 0

#include <cuda_bf16.h>
#include "attention.cuh"
#include "reduce.cuh"

#ifndef D
#define D 128 // numbers of a query, a key and a value
#endif

extern "C" __global__ void attention_row_dots(const __nv_bfloat16 *O, const __nv_bfloat16 *dO,
                                              const float *lse, float *rows, int heads, int tokens)
{
    int row = blockIdx.x * (blockDim.x / kWarpSize) + threadIdx.x / kWarpSize;
    int lane = threadIdx.x % kWarpSize;
    if (row >= tokens * heads) {
        return; // the whole warp
    }
    const auto *o = reinterpret_cast<const __nv_bfloat162 *>(O + (size_t)row * D);
    const auto *gradient = reinterpret_cast<const __nv_bfloat162 *>(dO + (size_t)row * D);
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < D / 2 / kWarpSize; ++i) {
        float2 a = __bfloat1622float2(o[i * kWarpSize + lane]);
        float2 b = __bfloat1622float2(gradient[i * kWarpSize + lane]);
        sum += a.x * b.x + a.y * b.y;
    }
    sum = warp_sum(sum);
    if (lane == 0) {
        size_t to = (size_t)(row % heads) * tokens + row / heads;
        rows[2 * to] = lse[to] * kLog2E;
        rows[2 * to + 1] = sum;
    }
}
