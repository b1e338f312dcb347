// dQ in bf16 from the sums of attention_backward, times scale, and transposed. `sums` holds D x 80
// floats for each tile of 80 queries of each head of each sequence, in the order in which the 256
// threads of attention_backward hold them; dQ is sequences x tokens x heads x D. D is 64 or 128, dQ
// begins at a multiple of 16 bytes.
// The last of three kernels of the backward pass. Tiles pass through shared memory, so that each
// row of dQ is written in whole pieces of 16 bytes.
// Limit: reading the sums and writing dQ once.
// grid (ceil(tokens / 80), heads, sequences), block (256), dynamic shared 0

#include <cuda_bf16.h>
#include "attention.cuh"
#include "attention_backward.cuh"

#ifndef D
#define D 128 // numbers of a query, a key and a value
#endif

extern "C" __global__ void __launch_bounds__(256)
    attention_gradient(const float4 *sums, __nv_bfloat16 *dQ, int heads, int tokens, float scale)
{
    constexpr int kWidth = D * 2, kFours = BM * D / 1024; // bytes of a row, and a thread's float4
    __shared__ __align__(128) unsigned char tile[BM * kWidth];
    const size_t number = ((size_t)blockIdx.z * heads + blockIdx.y) * gridDim.x + blockIdx.x;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    // A warp has 16 columns, and with D = 64 half of the queries.
    const int first = D == 64 ? warp / 4 * (BM / 2) : 0;
    const int chunk = (D == 64 ? warp % 4 : warp) * 2 + lane / 8 % 2;
    float4 four[kFours];
#pragma unroll
    for (int j = 0; j < kFours; ++j) { // 8 queries: two neighbours of a column, and 8 columns on
        four[j] = sums[(number * 8 + warp) * (kFours * 32) + j * 32 + lane];
    }
#pragma unroll
    for (int j = 0; j < kFours; j += 2) {
        const int k = min(j + 1, kFours - 1); // of the last 8 queries all lanes write the same
        const unsigned tiles[4] = {bf16_pair(four[j].x * scale, four[j].y * scale),
                                   bf16_pair(four[j].z * scale, four[j].w * scale),
                                   bf16_pair(four[k].x * scale, four[k].y * scale),
                                   bf16_pair(four[k].z * scale, four[k].w * scale)};
        const int row = first + (lane < 16 ? j : k) * 8 + lane % 8;
        stmatrix_4_transposed(shared_address(tile) + swizzled<kWidth>(row, chunk), tiles);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < BM * (D / 8); i += 256) {
        const int row = i / (D / 8), part = i % (D / 8), token = blockIdx.x * BM + row;
        if (token < tokens) {
            const size_t to = ((size_t)blockIdx.z * tokens + token) * heads + blockIdx.y;
            reinterpret_cast<float4 *>(dQ + to * D)[part] =
                load_shared_4(shared_address(tile) + swizzled<kWidth>(row, part));
        }
    }
}
