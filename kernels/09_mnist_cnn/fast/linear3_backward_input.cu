// dy2 = dz3 weight3 in fp32, the gradient of batch norm's result at each window's largest: N x
// 1568, and 0 where ReLU was closed. Also what batch norm's gradients need of it: for each channel
// and tile the sums of dy2 (dbeta) and of dy2 times the normalised best2 (dgamma), in sums2[tile].
// A block computes a tile of 16 ROWS / SPLITS images x 2 channels; each of SPLITS groups of threads
// adds up as many of the 128 products of each sum.
// grid (ceil(N / (16 ROWS / SPLITS)), 16), block 224, dynamic shared kSharedFloats * 4

#include "early_launch.cuh"
#include "gradient2_tile.cuh"
#include "product_tile.cuh"

#ifndef ROWS
#define ROWS 4
#endif
#ifndef SPLITS
#define SPLITS 1
#endif
#ifndef DEPTH
#define DEPTH 64
#endif
constexpr int kImages = kRowGroups / SPLITS * ROWS;
constexpr int kStride = kImages + 4;
constexpr int kInputFloats = DEPTH * (kStride + kTileColumns);
constexpr int kTileFloats = kImages * kTileColumns;
constexpr int kSharedFloats = kInputFloats > kTileFloats ? kInputFloats : kTileFloats;

extern "C" __global__ void __launch_bounds__(kThreads)
    linear3_backward_input(const float *dz3, const float *weight3, const float *best2,
                           const float *scale2, float *dy2, float *sums2, int N)
{
    extern __shared__ float4 shared4[];
    float *a = reinterpret_cast<float *>(shared4); // [hidden][image]
    float *b = a + DEPTH * kStride;                // [hidden][column]
    float *tile = a;                               // [image][column], at the end
    let_the_next_begin();
    int first_image = blockIdx.x * kImages;
    int first_column = blockIdx.y * kTileColumns;

    float sum[ROWS][kRun] = {};
    for (int first = 0; first < kHidden; first += DEPTH) {
        __syncthreads(); // the part before has been used
        const float *columns = weight3 + first * kInputs3 + first_column;
        float2 *pairs = reinterpret_cast<float2 *>(b);
#pragma unroll 14
        for (int i = threadIdx.x; i < DEPTH * kPixels2; i += kThreads) {
            const float *from = columns + i / kPixels2 * kInputs3 + i % kPixels2 * 2;
            pairs[i] = *reinterpret_cast<const float2 *>(from);
        }
        if (first == 0) { // after the loads of the weights, which need not wait for it
            wait_for_the_one_before();
        }
#pragma unroll 8
        for (int i = threadIdx.x; i < DEPTH * kImages; i += kThreads) {
            int image = first_image + i / DEPTH;
            float value = image < N ? dz3[image * kHidden + first + i % DEPTH] : 0.0f;
            a[i % DEPTH * kStride + i / DEPTH] = value;
        }
        __syncthreads();
        add_products<DEPTH, kStride, SPLITS>(sum, a, b);
    }
    __syncthreads();
    stage<SPLITS>(sum, tile);

    store_gradient2<kImages>(tile, best2, scale2, dy2, sums2, N);
}
