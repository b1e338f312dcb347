// Back to the order of tokens: y[t] = the sum over j of weights[t][j] times row places[t * TOP + j]
// of `rows`, in bf16 with sums in fp32. Rows are `width` numbers, a multiple of 8. Any number of
// tokens.
// The idea: a token fetches its TOP results. Nothing is scattered, so there are no atomics, and the
// sum has one order: the same bits in every run.
// Limit: memory.
// grid (tokens), block (128), dynamic shared 0

#include <cuda_bf16.h>

#ifndef TOP
#define TOP 2
#endif

extern "C" __global__ void combine_rows(const uint4 *rows, const int *places, const float *weights,
                                        uint4 *y, int width)
{
    const int chunks = width / 8; // of 16 bytes
    const size_t token = blockIdx.x;
    for (int c = threadIdx.x; c < chunks; c += blockDim.x) {
        float2 sum[4] = {};
#pragma unroll
        for (int j = 0; j < TOP; ++j) {
            const uint4 piece = rows[(size_t)places[token * TOP + j] * chunks + c];
            const float weight = weights[token * TOP + j];
            const auto *pairs = reinterpret_cast<const __nv_bfloat162 *>(&piece);
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const float2 pair = __bfloat1622float2(pairs[i]);
                sum[i].x += weight * pair.x;
                sum[i].y += weight * pair.y;
            }
        }
        uint4 result;
        auto *pairs = reinterpret_cast<__nv_bfloat162 *>(&result);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            pairs[i] = __float22bfloat162_rn(sum[i]);
        }
        y[token * chunks + c] = result;
    }
}
