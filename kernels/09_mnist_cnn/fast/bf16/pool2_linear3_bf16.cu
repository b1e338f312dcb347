// As pool2_linear3.cu, with linear3's products on tensor cores: bf16 factors, fp32 sums.
// A block takes 16 ROWS images and CHANNELS channels, two at a time: 98 products, with zeros up to
// 112. A warp computes 16 ROWS x 16 sums.
// grid (ceil(N / (16 ROWS)), 32 / CHANNELS), block 256, dynamic shared kSharedBytes

#include "../early_launch.cuh"
#include "../block2.cuh"
#include "mma_conv.cuh"

#ifndef ROWS
#define ROWS 4
#endif
#ifndef CHANNELS
#define CHANNELS 2
#endif
constexpr int kThreads = 256;
constexpr int kImages = 16 * ROWS; // of a block
constexpr int kSteps = 7;          // of 16 products
constexpr int kProducts = 2 * kPixels2;
constexpr int kPadded = kSteps * 16;
constexpr int kStride = kPadded + 8; // eight rows begin in different banks
static_assert(CHANNELS % 2 == 0, "two channels at a time");

extern "C" __global__ void __launch_bounds__(kThreads)
    pool2_linear3_bf16(const float *best2, const float *means, const float *squares,
                       const float *gamma2, const float *beta2, const float *weight3, float *parts, float *scale2, int blocks, int N)
{
    extern __shared__ float4 shared4[];
    Bf16 *a = reinterpret_cast<Bf16 *>(shared4); // [image][product]
    Bf16 *b = a + kImages * kStride;             // [result][product]
    __shared__ float scale[CHANNELS];
    __shared__ float shift[CHANNELS];
    let_the_next_begin();
    int lane = threadIdx.x % kWarpSize;
    int first_result = threadIdx.x / kWarpSize * 16; // of the warp
    int first_image = blockIdx.x * kImages;
    int first_channel = blockIdx.y * CHANNELS;
    for (int i = threadIdx.x; i < (kImages + kHidden) * (kPadded - kProducts); i += kThreads) {
        int row = i / (kPadded - kProducts); // of a, then of b
        a[row * kStride + kProducts + i % (kPadded - kProducts)] = 0;
    }

    float sum[ROWS][2][4] = {};
    for (int k = 0; k < CHANNELS; k += 2) {
        int f = first_channel + k;
        if (k > 0) {
            __syncthreads(); // the channels before have been used
        }
#pragma unroll 13
        for (int i = threadIdx.x; i < kHidden * kPixels2; i += kThreads) { // pairs
            int result = i / kPixels2;
            int product = i % kPixels2 * 2;
            float2 two = *reinterpret_cast<const float2 *>(weight3 + result * kInputs3 +
                                                           f * kPixels2 + product);
            *reinterpret_cast<unsigned *>(b + result * kStride + product) = packed(two.x, two.y);
        }
        if (k == 0) { // after the loads of the weights, which need not wait for it
            wait_for_the_one_before();
            find_statistics2<kThreads, CHANNELS>(scale, shift, means, squares, gamma2, beta2,
                                                 scale2, first_channel, blocks, N);
            __syncthreads();
        }
#pragma unroll 4
        for (int i = threadIdx.x; i < kImages * kProducts; i += kThreads) {
            int own = i / kProducts;
            int product = i % kProducts;
            int image = first_image + own;
            int c = product / kPixels2;
            float value = 0.0f;
            if (image < N) {
                value = pooled2(best2[image * kInputs3 + f * kPixels2 + product], scale[k + c],
                                shift[k + c]);
            }
            a[own * kStride + product] = rounded(value);
        }
        __syncthreads();
#pragma unroll
        for (int step = 0; step < kSteps; ++step) {
            unsigned right[4];
            int result = first_result + lane % 8 + lane / 16 * 8;
            ldmatrix_4(right, shared_address(b + result * kStride + step * 16 + lane / 8 % 2 * 8));
#pragma unroll
            for (int i = 0; i < ROWS; ++i) {
                unsigned left[4];
                int row = i * 16 + lane % 16;
                ldmatrix_4(left, shared_address(a + row * kStride + step * 16 + lane / 16 * 8));
                mma_bf16(sum[i][0], left, right[0], right[1]);
                mma_bf16(sum[i][1], left, right[2], right[3]);
            }
        }
    }
#pragma unroll
    for (int i = 0; i < ROWS * 4; ++i) { // two neighbouring results
        int image = first_image + i / 4 * 16 + lane / 4 + i % 2 * 8;
        int result = first_result + i / 2 % 2 * 8 + lane % 4 * 2;
        const float *two = sum[i / 4][i / 2 % 2] + i % 2 * 2;
        if (image < N) {
            *reinterpret_cast<float2 *>(parts + (blockIdx.y * N + image) * kHidden + result) =
                make_float2(two[0], two[1]);
        }
    }
}
