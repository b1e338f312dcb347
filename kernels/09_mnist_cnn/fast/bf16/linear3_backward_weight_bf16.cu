// As linear3_backward_weight.cu, on tensor cores: bf16 factors, fp32 sums.
// grid (ceil(N / IMAGES), 16), block 224, dynamic shared 128 * 98 * 4

#include "product_tile_bf16.cuh"

#ifndef IMAGES
#define IMAGES 32
#endif
#ifndef DEPTH
#define DEPTH 32
#endif
constexpr int kTiles = kHidden / 16;
constexpr int kStride = kHidden + 8; // eight rows begin in different banks
static_assert(DEPTH % 16 == 0, "a step of an mma is 16 images");
static_assert(DEPTH * (kStride + kColumnsStride) / 2 <= kHidden * kTileColumns,
              "DEPTH is too large");

extern "C" __global__ void __launch_bounds__(kThreads)
    linear3_backward_weight_bf16(const float *dz3, const float *best2, const float *scale2,
                                 float *dweight3, int N)
{
    extern __shared__ float4 shared4[];
    Bf16 *a = reinterpret_cast<Bf16 *>(shared4);      // [image][hidden]
    Bf16 *b = a + DEPTH * kStride;                    // [image][column]
    float *tile = reinterpret_cast<float *>(shared4); // [hidden][column], at the end
    int first_image = blockIdx.x * IMAGES;
    int end = min(first_image + IMAGES, N);
    int first_column = blockIdx.y * kTileColumns;

    float sum[kTiles][2][4] = {};
    for (int first = first_image; first < end; first += DEPTH) {
        __syncthreads(); // the images before have been used
#pragma unroll 4
        for (int i = threadIdx.x; i < DEPTH * kHidden / 2; i += kThreads) {
            int own = i / (kHidden / 2);
            int hidden = i % (kHidden / 2) * 2;
            float2 two = make_float2(0.0f, 0.0f);
            if (first + own < end) {
                two = *reinterpret_cast<const float2 *>(dz3 + (first + own) * kHidden + hidden);
            }
            *reinterpret_cast<unsigned *>(a + own * kStride + hidden) = packed(two.x, two.y);
        }
        constexpr int kPairs = 7 * 16 / 2; // of the columns that are read
#pragma unroll 4
        for (int i = threadIdx.x; i < DEPTH * kPairs; i += kThreads) {
            int own = i / kPairs;
            int column = i % kPairs * 2;
            float2 two = make_float2(0.0f, 0.0f);
            if (first + own < end && column < kTileColumns) {
                int at = (first + own) * kInputs3 + first_column + column;
                two = *reinterpret_cast<const float2 *>(best2 + at);
                int f = (first_column + column) / kPixels2;
                int g = (first_column + column + 1) / kPixels2;
                two.x = fmaf(two.x, scale2[2 * kFilters2 + f], scale2[3 * kFilters2 + f]);
                two.y = fmaf(two.y, scale2[2 * kFilters2 + g], scale2[3 * kFilters2 + g]);
                two.x = two.x <= 0.0f ? 0.0f : two.x;
                two.y = two.y <= 0.0f ? 0.0f : two.y;
            }
            *reinterpret_cast<unsigned *>(b + own * kColumnsStride + column) = packed(two.x, two.y);
        }
        __syncthreads();
        add_products_bf16<DEPTH / 16, kStride, true>(sum, a, b);
    }
    __syncthreads();
    stage_bf16(sum, tile);
    __syncthreads();
    float *part = dweight3 + blockIdx.x * kHidden * kInputs3;
    for (int i = threadIdx.x; i < kHidden * kTileColumns; i += kThreads) {
        part[i / kTileColumns * kInputs3 + first_column + i % kTileColumns] = tile[i];
    }
}
