// The gradient of conv2's weights in fp32: each of the 4608 is a sum over all pixels of dc2 times
// the pixel of pool1 that the tap lay on. A block takes 32 / PARTS filters and keeps its sums in
// registers over all of its images: GROUPS groups of threads take different rows, a thread 4
// filters x 2 channels x 9 taps. dconv2 is [blocks][32][16][9]. Limit: fp32 arithmetic.
// grid (any, PARTS), block (64 / PARTS * GROUPS), dynamic shared kSharedFloats * 4

#include "backward2.cuh"

#ifndef GROUPS
#define GROUPS 7
#endif
#ifndef PARTS
#define PARTS 1
#endif
constexpr int kOfPart = kFilters2 / PARTS; // filters of this block
constexpr int kFilters = 4;                // of a thread
constexpr int kChannels = 2;
constexpr int kLanes = kOfPart / kFilters; // neighbouring threads take neighbouring filters
constexpr int kGroup = kLanes * kFilters1 / kChannels; // threads of a group
constexpr int kThreads = kGroup * GROUPS;
constexpr int kRows = kSide1 / GROUPS;
constexpr int kGradientPlane = kPixels1 + 1; // 32 channels begin in 32 banks
constexpr int kResults = kOfPart * kFilters1 * kTaps;
constexpr int kOwn = kFilters * kChannels * kTaps; // sums of a thread
constexpr int kOwnStride = kGroup + 1;             // neighbouring sums lie in neighbouring banks

extern "C" __global__ void __launch_bounds__(kThreads)
    conv2_backward_weight(const float *c2, const float *dy2, const unsigned char *code2,
                          const float *scale2, const float *sums2, const float *pool1,
                          float *dconv2, int tiles, int N)
{
    extern __shared__ float4 shared4[];
    float *dc2 = reinterpret_cast<float *>(shared4); // [filter][pixel]
    float *pool = dc2 + kOfPart * kGradientPlane;    // [channel], with zeros around it
    __shared__ Backward2 of_batch;
    for (int i = threadIdx.x; i < kFilters1 * kPlane; i += kThreads) {
        pool[i] = 0.0f;
    }
    find_backward2(of_batch, scale2, sums2, tiles, N);

    int first = blockIdx.y * kOfPart; // filter
    int filter = threadIdx.x % kLanes;
    int channel = threadIdx.x % kGroup / kLanes;
    int group = threadIdx.x / kGroup;
    float sum[kFilters][kChannels][kTaps] = {};
    for (int image = blockIdx.x; image < N; image += gridDim.x) {
        __syncthreads(); // the image before has been used
        load_gradient2<kThreads, kOfPart, kSide2, kGradientPlane, kSide1>(
            dc2 - first * kGradientPlane, of_batch, c2, dy2, code2, image, first, 0);
#pragma unroll 7
        for (int i = threadIdx.x; i < kFilters1 * kPixels1; i += kThreads) {
            int row = i % kPixels1 / kSide1 + 1;
            int column = i % kSide1 + 1; // 196 is a multiple of 14
            pool[i / kPixels1 * kPlane + row * kRowStride + column] =
                pool1[image * kFilters1 * kPixels1 + i];
        }
        __syncthreads();
#pragma unroll 1
        for (int row = group * kRows; row < (group + 1) * kRows; ++row) {
            const float *gradients = dc2 + filter * kGradientPlane + row * kSide1;
            const float *pixels = pool + channel * kPlane + row * kRowStride;
            float window[kChannels][3][3];
#pragma unroll
            for (int c = 0; c < kChannels; ++c) {
#pragma unroll
                for (int t = 0; t < 6; ++t) { // its last two columns
                    window[c][t / 2][t % 2 + 1] =
                        pixels[c * (kFilters1 / kChannels) * kPlane + t / 2 * kRowStride + t % 2];
                }
            }
#pragma unroll
            for (int column = 0; column < kSide1; ++column) {
#pragma unroll
                for (int c = 0; c < kChannels; ++c) {
#pragma unroll
                    for (int r = 0; r < 3; ++r) {
                        window[c][r][0] = window[c][r][1];
                        window[c][r][1] = window[c][r][2];
                        window[c][r][2] = pixels[c * (kFilters1 / kChannels) * kPlane +
                                                 r * kRowStride + column + 2];
                    }
                }
#pragma unroll
                for (int f = 0; f < kFilters; ++f) {
                    float gradient = gradients[f * kLanes * kGradientPlane + column];
#pragma unroll
                    for (int c = 0; c < kChannels; ++c) {
#pragma unroll
                        for (int t = 0; t < kTaps; ++t) {
                            sum[f][c][t] += gradient * window[c][t / 3][t % 3];
                        }
                    }
                }
            }
        }
    }

    float *totals = dc2; // [group][sum of a thread][thread of a group]
    __syncthreads();     // the last image has been used
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
        totals[(group * kOwn + i) * kOwnStride + threadIdx.x % kGroup] =
            sum[i / (kChannels * kTaps)][i / kTaps % kChannels][i % kTaps];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < kResults; i += kThreads) {
        int f = i / (kFilters1 * kTaps);
        int c = i / kTaps % kFilters1;
        int own = (f / kLanes * kChannels + c / (kFilters1 / kChannels)) * kTaps + i % kTaps;
        int thread = c % (kFilters1 / kChannels) * kLanes + f % kLanes;
        float total = 0.0f;
#pragma unroll
        for (int g = 0; g < GROUPS; ++g) {
            total += totals[(g * kOwn + own) * kOwnStride + thread];
        }
        dconv2[(blockIdx.x * PARTS + blockIdx.y) * kResults + i] = total;
    }
}
