// The gradient of weight3 (128 x 1568) in fp32, dz3^T times the pooled pixels, in parts: part p
// adds up the products of IMAGES images. The pooled pixels are best2, normalised and through ReLU.
// A block computes a tile of 128 x 98: all of linear3's results, two channels.
// grid (ceil(N / IMAGES), 16), block 224, dynamic shared 128 * 98 * 4

#include "product_tile.cuh"

#ifndef IMAGES
#define IMAGES 16
#endif
#ifndef DEPTH
#define DEPTH 16
#endif
constexpr int kRows = kHidden / kRowGroups;
static_assert(DEPTH * (kHidden + kTileColumns) <= kHidden * kTileColumns, "DEPTH is too large");

extern "C" __global__ void __launch_bounds__(kThreads)
    linear3_backward_weight(const float *dz3, const float *best2, const float *scale2,
                            float *dweight3, int N)
{
    extern __shared__ float4 shared4[];
    float *a = reinterpret_cast<float *>(shared4); // [image][hidden]
    float *b = a + DEPTH * kHidden;                // [image][column]
    float *tile = a;                               // [hidden][column], at the end
    int first_image = blockIdx.x * IMAGES;
    int end = min(first_image + IMAGES, N);
    int first_column = blockIdx.y * kTileColumns;

    float sum[kRows][kRun] = {};
    for (int first = first_image; first < end; first += DEPTH) {
        __syncthreads(); // the images before have been used
        const float4 *from = reinterpret_cast<const float4 *>(dz3 + first * kHidden);
#pragma unroll 4
        for (int i = threadIdx.x; i < DEPTH * kHidden / 4; i += kThreads) {
            bool exists = first + i / (kHidden / 4) < end;
            shared4[i] = exists ? from[i] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        }
#pragma unroll 7
        for (int i = threadIdx.x; i < DEPTH * kTileColumns; i += kThreads) {
            int image = first + i / kTileColumns;
            int column = first_column + i % kTileColumns;
            int f = column / kPixels2;
            float value = 0.0f;
            if (image < end) {
                float best = best2[image * kInputs3 + column];
                value = fmaf(best, scale2[2 * kFilters2 + f], scale2[3 * kFilters2 + f]);
            }
            b[i] = value <= 0.0f ? 0.0f : value;
        }
        __syncthreads();
        add_products<DEPTH, kHidden, 1>(sum, a, b);
    }
    __syncthreads();
    stage<1>(sum, tile);
    float *part = dweight3 + blockIdx.x * kHidden * kInputs3;
    for (int i = threadIdx.x; i < kHidden * kTileColumns; i += kThreads) {
        part[i / kTileColumns * kInputs3 + first_column + i % kTileColumns] = tile[i];
    }
}
