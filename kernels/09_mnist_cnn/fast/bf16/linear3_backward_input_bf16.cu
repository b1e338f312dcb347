// As linear3_backward_input.cu, on tensor cores: bf16 factors, fp32 sums.
// A block computes a tile of 16 ROWS images x 2 channels, with all 128 products of each sum.
// grid (ceil(N / (16 ROWS)), 16), block 224, dynamic shared kSharedBytes

#include "../early_launch.cuh"
#include "../gradient2_tile.cuh"
#include "product_tile_bf16.cuh"

#ifndef ROWS
#define ROWS 4
#endif
constexpr int kImages = 16 * ROWS;
constexpr int kStride = kHidden + 8; // eight rows begin in different banks

extern "C" __global__ void __launch_bounds__(kThreads)
    linear3_backward_input_bf16(const float *dz3, const float *weight3, const float *best2,
                                const float *scale2, float *dy2, float *sums2, int N)
{
    extern __shared__ float4 shared4[];
    Bf16 *a = reinterpret_cast<Bf16 *>(shared4);      // [image][hidden]
    Bf16 *b = a + kImages * kStride;                  // [hidden][column]
    float *tile = reinterpret_cast<float *>(shared4); // [image][column], at the end
    let_the_next_begin();
    int first_image = blockIdx.x * kImages;
    int first_column = blockIdx.y * kTileColumns;

    constexpr int kPairs = 7 * 16 / 2; // of the columns that are read
#pragma unroll 16
    for (int i = threadIdx.x; i < kHidden * kPairs; i += kThreads) {
        int hidden = i / kPairs;
        int column = i % kPairs * 2;
        float2 two = make_float2(0.0f, 0.0f);
        if (column < kTileColumns) {
            two = *reinterpret_cast<const float2 *>(weight3 + hidden * kInputs3 + first_column +
                                                    column);
        }
        *reinterpret_cast<unsigned *>(b + hidden * kColumnsStride + column) = packed(two.x, two.y);
    }
    wait_for_the_one_before();
#pragma unroll 4
    for (int i = threadIdx.x; i < kImages * kHidden / 2; i += kThreads) {
        int own = i / (kHidden / 2);
        int hidden = i % (kHidden / 2) * 2;
        float2 two = make_float2(0.0f, 0.0f);
        if (first_image + own < N) {
            two = *reinterpret_cast<const float2 *>(dz3 + (first_image + own) * kHidden + hidden);
        }
        *reinterpret_cast<unsigned *>(a + own * kStride + hidden) = packed(two.x, two.y);
    }
    __syncthreads();
    float sum[ROWS][2][4] = {};
    add_products_bf16<kHidden / 16, kStride, false>(sum, a, b);
    __syncthreads();
    stage_bf16(sum, tile);
    __syncthreads();
    store_gradient2<kImages>(tile, best2, scale2, dy2, sums2, N);
}
