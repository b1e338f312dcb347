// What the backward pass needs of each query, in tiles of BM: rows[s][h][tile] holds lse * log2 e of
// BM queries, and then the sum of dO times O over the row of each. O and dO are sequences x tokens x heads x
// D in bf16, lse is sequences x heads x tokens. `padded` tokens are a multiple of BM: past the end
// of a sequence lse is plus infinity, which makes weights zeros, and the sum 0. Also sets the sums
// of dQ to zero, sequences x heads x padded x D. D is 64 or 128, all arrays begin at multiples of
// 16 bytes.
// The first of three kernels of the backward pass.
// Limit: reading O and dO and writing zeros, once each. A thread has 8 elements of a row.
// grid (ceil(sequences * heads * padded * D / 2048)), block (256), dynamic shared 0

#include <cuda_bf16.h>
#include <math_constants.h>
#include "attention.cuh"
#include "attention_backward.cuh"
#include "reduce.cuh"

#ifndef D
#define D 128 // numbers of a query, a key and a value
#endif

extern "C" __global__ void attention_rows(const __nv_bfloat16 *O, const __nv_bfloat16 *dO,
                                          const float *lse, float *rows, float *sums, int sequences,
                                          int heads, int tokens, int padded)
{
    constexpr int kLanes = D / 8; // of a row
    const int part = threadIdx.x % kLanes;
    const int row = blockIdx.x * (blockDim.x / kLanes) + threadIdx.x / kLanes;
    const int token = row % padded, head = row / padded; // of all heads of all sequences
    const bool exists = row < sequences * heads * padded;
    float sum = 0.0f;
    if (exists) {
        auto *zeros = reinterpret_cast<float4 *>(sums + (size_t)row * D) + part;
        zeros[0] = zeros[kLanes] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
    if (exists && token < tokens) {
        const size_t from = ((size_t)(head / heads) * tokens + token) * heads + head % heads;
        const uint4 o = reinterpret_cast<const uint4 *>(O + from * D)[part];
        const uint4 gradient = reinterpret_cast<const uint4 *>(dO + from * D)[part];
        const unsigned of_o[] = {o.x, o.y, o.z, o.w};
        const unsigned of_gradient[] = {gradient.x, gradient.y, gradient.z, gradient.w};
#pragma unroll
        for (int i = 0; i < 4; ++i) { // two numbers: bf16 is the upper half of fp32
            sum += __uint_as_float(of_o[i] << 16) * __uint_as_float(of_gradient[i] << 16);
            sum += __uint_as_float(of_o[i] & 0xffff0000) *
                   __uint_as_float(of_gradient[i] & 0xffff0000);
        }
    }
#pragma unroll
    for (int distance = kLanes / 2; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(kWholeWarp, sum, distance);
    }
    if (exists && part == 0) {
        float *to = rows + (size_t)row * 2 - token % BM; // a tile has 2 BM numbers
        to[0] = token < tokens ? lse[(size_t)head * tokens + token] * kLog2E : CUDART_INF_F;
        to[BM] = sum;
    }
}
