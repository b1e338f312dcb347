// Batch norm -> ReLU -> max pool of conv2's results c2, and from there linear3's products, in fp32.
// Writes best2 (N x 1568), the c2 at each window's largest, and code2, which of the four that was;
// parts[k] (N x 128), the products of CHANNELS channels of the 32; and scale2 with which a
// channel is normalised: its mean, 1 / deviation, gamma / deviation, the shift that goes with it,
// and the variance.
// A block takes 8 ROWS images and CHANNELS channels, one after the other: of each it combines the
// images' means and squared distances, then multiplies 8 ROWS x 49 pooled pixels by 49 x 128
// weights. A thread computes ROWS x 4 sums.
// grid (ceil(N / (8 ROWS)), 32 / CHANNELS), block 256, dynamic shared 0

#include "early_launch.cuh"
#include "block2.cuh"

#ifndef ROWS
#define ROWS 4
#endif
#ifndef CHANNELS
#define CHANNELS 1
#endif
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarpSize;
constexpr int kImages = kWarps * ROWS;     // of a block
constexpr int kImagesStride = kImages + 4; // rows begin at multiples of 16 bytes
constexpr int kHiddenStride = kHidden + 1;
constexpr int kColumns = kHidden / kWarpSize; // of a thread

extern "C" __global__ void __launch_bounds__(kThreads)
    pool2_linear3(const float *best2, const float *means, const float *squares, const float *gamma2,
                  const float *beta2, const float *weight3, float *parts, float *scale2, int blocks, int N)
{
    __shared__ float4 a4[kPixels2 * kImagesStride / 4 + 1]; // [pixel][image]
    __shared__ float b[kPixels2 * kHiddenStride];           // [pixel][result]
    __shared__ float scale[CHANNELS];
    __shared__ float shift[CHANNELS];
    float *a = reinterpret_cast<float *>(a4);
    let_the_next_begin();
    int lane = threadIdx.x % kWarpSize;
    int warp = threadIdx.x / kWarpSize;
    int first_image = blockIdx.x * kImages;
    int first_channel = blockIdx.y * CHANNELS;

    float sum[ROWS][kColumns] = {};
    for (int k = 0; k < CHANNELS; ++k) {
        int f = first_channel + k;
        if (k > 0) {
            __syncthreads(); // the channel before has been used
        }
#pragma unroll 13
        for (int i = threadIdx.x; i < kPixels2 * kHidden; i += kThreads) {
            int pixel = i % kPixels2;
            int result = i / kPixels2;
            b[pixel * kHiddenStride + result] = weight3[result * kInputs3 + f * kPixels2 + pixel];
        }
        if (k == 0) { // after the loads of the weights, which need not wait for it
            wait_for_the_one_before();
            find_statistics2<kThreads, CHANNELS>(scale, shift, means, squares, gamma2, beta2,
                                                 scale2, first_channel, blocks, N);
            __syncthreads();
        }
#pragma unroll 4
        for (int i = threadIdx.x; i < kPixels2 * kImages; i += kThreads) {
            int pixel = i % kPixels2;
            int own = i / kPixels2;
            int image = first_image + own;
            float value = 0.0f;
            if (image < N) {
                value = pooled2(best2[image * kInputs3 + f * kPixels2 + pixel], scale[k], shift[k]);
            }
            a[pixel * kImagesStride + own] = value;
        }
        __syncthreads();
#pragma unroll 7
        for (int pixel = 0; pixel < kPixels2; ++pixel) {
            float weight[kColumns];
#pragma unroll
            for (int j = 0; j < kColumns; ++j) {
                weight[j] = b[pixel * kHiddenStride + j * kWarpSize + lane];
            }
#pragma unroll
            for (int i = 0; i < ROWS; ++i) {
                float value = a[pixel * kImagesStride + warp * ROWS + i];
#pragma unroll
                for (int j = 0; j < kColumns; ++j) {
                    sum[i][j] += value * weight[j];
                }
            }
        }
    }
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
        int image = first_image + warp * ROWS + i;
        if (image < N) {
#pragma unroll
            for (int j = 0; j < kColumns; ++j) {
                parts[(blockIdx.y * N + image) * kHidden + j * kWarpSize + lane] = sum[i][j];
            }
        }
    }
}
