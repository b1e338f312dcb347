// dy2 = dz3 weight3 in fp32, the gradient of batch norm's result at each window's largest: N x 1568,
// and 0 where ReLU was closed. Also what batch norm's gradients need of it: for each channel and
// tile the sums of dy2 (dbeta) and of dy2 times the normalised best2 (dgamma), in sums2[tile].
// A block computes a tile of 16 ROWS images x 2 channels, with all 128 products of each sum.
// grid (ceil(N / (16 ROWS)), 16), block 224, dynamic shared kSharedFloats * 4

#include "product_tile.cuh"

#ifndef ROWS
#define ROWS 4
#endif
#ifndef DEPTH
#define DEPTH 64
#endif
constexpr int kImages = kRowGroups * ROWS;
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
    __shared__ float of_thread[2][kThreads];
    int first_image = blockIdx.x * kImages;
    int first_column = blockIdx.y * kTileColumns;

    float sum[ROWS][kRun] = {};
    for (int first = 0; first < kHidden; first += DEPTH) {
        __syncthreads(); // the part before has been used
        for (int i = threadIdx.x; i < DEPTH * kImages; i += kThreads) {
            int image = first_image + i / DEPTH;
            float value = image < N ? dz3[image * kHidden + first + i % DEPTH] : 0.0f;
            a[i % DEPTH * kStride + i / DEPTH] = value;
        }
#pragma unroll 8
        for (int i = threadIdx.x; i < DEPTH * kTileColumns; i += kThreads) {
            int hidden = first + i / kTileColumns;
            b[i] = weight3[hidden * kInputs3 + first_column + i % kTileColumns];
        }
        __syncthreads();
        add_products<DEPTH, kStride>(sum, a, b);
    }
    __syncthreads();
    stage(sum, tile);
    __syncthreads();

    // Two rows at a time; a thread keeps to one column.
    int column = threadIdx.x % kTileColumns;
    int f = (first_column + column) / kPixels2;
    float mean = scale2[f];
    float rstd = scale2[kFilters2 + f];
    float scale = scale2[2 * kFilters2 + f];
    float shift = scale2[3 * kFilters2 + f];
    float of_beta = 0.0f;
    float of_gamma = 0.0f;
#pragma unroll 4
    for (int row = threadIdx.x / kTileColumns; row < kImages; row += 2) {
        int image = first_image + row;
        if (threadIdx.x < 2 * kTileColumns && image < N) {
            int at = image * kInputs3 + first_column + column;
            float best = best2[at];
            bool closed = fmaf(best, scale, shift) <= 0.0f;
            float gradient = closed ? 0.0f : tile[row * kTileColumns + column];
            dy2[at] = gradient;
            of_beta += gradient;
            of_gamma += gradient * ((best - mean) * rstd);
        }
    }
    of_thread[0][threadIdx.x] = of_beta;
    of_thread[1][threadIdx.x] = of_gamma;
    __syncthreads();
    if (threadIdx.x < 4) { // two kinds of sums, two channels
        int kind = threadIdx.x / 2;
        int channel = threadIdx.x % 2;
        float total = 0.0f;
#pragma unroll 7
        for (int i = 0; i < kPixels2; ++i) {
            const float *two = of_thread[kind] + channel * kPixels2 + i;
            total += two[0] + two[kTileColumns];
        }
        sums2[(blockIdx.x * 2 + kind) * kFilters2 + blockIdx.y * 2 + channel] = total;
    }
}
