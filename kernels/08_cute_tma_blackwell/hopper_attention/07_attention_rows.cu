// What the backward pass needs of each query: rows[s][h][i] holds lse times log2 e, and the sum
// over the row of dO times O. O and dO are sequences x tokens x heads x D in bf16, lse is sequences
// x heads x tokens, rows is sequences x heads x padded x 2 with `padded` tokens, a multiple of 64:
// for those past the end plus infinity, which makes their weights zeros, and 0. D is a multiple of
// 64.
// The first of three kernels of the backward pass.
// Limit: reading O and dO once. A warp has a row.
// grid (ceil(sequences * heads * padded / 8)), block (256), dynamic shared 0

#include <cuda_bf16.h>
#include <math_constants.h>
#include "attention.cuh"
#include "reduce.cuh"

#ifndef D
#define D 128 // numbers of a query, a key and a value
#endif

extern "C" __global__ void attention_rows(const __nv_bfloat16 *O, const __nv_bfloat16 *dO,
                                          const float *lse, float2 *rows, int sequences, int heads,
                                          int tokens, int padded)
{
    const int row = blockIdx.x * (blockDim.x / kWarpSize) + threadIdx.x / kWarpSize;
    const int lane = threadIdx.x % kWarpSize;
    if (row >= sequences * heads * padded) {
        return; // the whole warp
    }
    const int token = row % padded, head = row / padded; // of all heads of all sequences
    float2 found = make_float2(CUDART_INF_F, 0.0f);
    if (token < tokens) {
        const size_t from = ((size_t)(head / heads) * tokens + token) * heads + head % heads;
        const auto *o = reinterpret_cast<const __nv_bfloat162 *>(O + from * D);
        const auto *gradient = reinterpret_cast<const __nv_bfloat162 *>(dO + from * D);
        float sum = 0.0f;
#pragma unroll
        for (int i = 0; i < D / 2 / kWarpSize; ++i) {
            const float2 a = __bfloat1622float2(o[i * kWarpSize + lane]);
            const float2 b = __bfloat1622float2(gradient[i * kWarpSize + lane]);
            sum += a.x * b.x + a.y * b.y;
        }
        found = make_float2(lse[(size_t)head * tokens + token] * kLog2E, warp_sum(sum));
    }
    if (lane == 0) {
        rows[row] = found;
    }
}
