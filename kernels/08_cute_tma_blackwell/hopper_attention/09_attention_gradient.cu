// dQ in bf16 from the sums of attention_backward: scale times each, put where it belongs. `sums`
// holds 64 x D floats for each tile of 64 queries of each head of each sequence, in the order in
// which the 256 threads of attention_backward hold them; dQ is sequences x tokens x heads x D. D is
// 64 or 128.
// The last of three kernels of the backward pass.
// Limit: reading the sums and writing dQ once.
// grid (ceil(tokens / 64), heads, sequences), block (256), dynamic shared 0

#include <cuda_bf16.h>
#include "attention.cuh"

#ifndef D
#define D 128 // numbers of a query, a key and a value
#endif

extern "C" __global__ void __launch_bounds__(256)
    attention_gradient(const float4 *sums, __nv_bfloat16 *dQ, int heads, int tokens, float scale)
{
    const size_t tile = ((size_t)blockIdx.z * heads + blockIdx.y) * gridDim.x + blockIdx.x;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int row = blockIdx.x * 64 + warp % 4 * 16 + lane / 4; // and 8 more
    const size_t to = ((size_t)blockIdx.z * tokens + row) * heads + blockIdx.y;
#pragma unroll
    for (int j = 0; j < D / 16; ++j) { // two neighbours of each row
        const float4 four = sums[(tile * 8 + warp) * (D / 16 * 32) + j * 32 + lane];
        const int column = warp / 4 * (D / 2) + j * 8 + lane % 4 * 2;
        unsigned *pair = reinterpret_cast<unsigned *>(dQ + to * D + column);
        if (row < tokens) {
            *pair = bf16_pair(four.x * scale, four.y * scale);
        }
        if (row + 8 < tokens) {
            pair[(size_t)heads * D * 4] = bf16_pair(four.z * scale, four.w * scale);
        }
    }
}
