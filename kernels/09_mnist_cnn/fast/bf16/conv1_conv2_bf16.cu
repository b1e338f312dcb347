// As conv1_conv2.cu, with conv2 on tensor cores: bf16 factors, fp32 sums. conv1 and the statistics
// stay in fp32. Writes pool1 in bf16, as N x 196 x 16 with the channels side by side. Each of PARTS
// blocks takes as many rows of an image; a warp takes all 32 filters and keeps conv2's weights in
// registers. Limit: conv1's fp32 arithmetic.
// grid (any, PARTS), block 224, dynamic shared kSharedBytes

#include "../early_launch.cuh"
#include "../block1.cuh"
#include "../results2.cuh"
#include "mma_conv.cuh"

#ifndef PARTS
#define PARTS 1
#endif
constexpr int kThreads = 224;
constexpr int kOfPart = kPixels1 / PARTS; // pixels of this block
constexpr int kRows = kSide1 / PARTS;
constexpr int kTiles = kFilters2 / 8;
constexpr int kRowsOfWarp = kRows / (kThreads / kWarpSize);
constexpr int kResultsFloats = kFilters2 * kPixels1; // the weights lie there at first

extern "C" __global__ void __launch_bounds__(kThreads)
    conv1_conv2_bf16(const unsigned char *images, const int *order, int *clock,
                     const long long *moments, const float *conv1, const float *gamma1,
                     const float *beta1, const float *conv2, unsigned short *pool1,
                     unsigned char *code1, float *c2, float *means, float *squares, int N)
{
    extern __shared__ float4 shared4[];
    float *results = reinterpret_cast<float *>(shared4);             // [filter][pixel]
    Bf16 *weights = reinterpret_cast<Bf16 *>(shared4);               // [tap][filter][channel]
    Bf16 *pool = reinterpret_cast<Bf16 *>(results + kResultsFloats); // [pixel][channel]
    float *x = reinterpret_cast<float *>(pool + kPaddedPixels * kStride16);
    __shared__ Statistics1 of_batch;
    __shared__ Filters1 filters;

    let_the_next_begin();
    int step = clock[0];
    int part = blockIdx.y;
    if (blockIdx.x == 0 && part == 0 && threadIdx.x == 0) {
        clock[1] = step;
    }
    int first = max(part * kRows - 1, 0) * kSide1; // of the pixels of pool1 that this part needs
    int end = min((part + 1) * kRows + 1, kSide1) * kSide1;
    int lane = threadIdx.x % kWarpSize;
    int warp = threadIdx.x / kWarpSize;
#pragma unroll 21
    for (int i = threadIdx.x; i < kFilters2 * kFilters1 * kTaps; i += kThreads) {
        int filter = i / (kFilters1 * kTaps);
        int channel = i / kTaps % kFilters1;
        weights[(i % kTaps * kFilters2 + filter) * kStride16 + channel] = rounded(conv2[i]);
    }
    unsigned *pairs = reinterpret_cast<unsigned *>(pool);
    for (int i = threadIdx.x; i < kPaddedPixels * kStride16 / 2; i += kThreads) {
        pairs[i] = 0;
    }
    find_statistics1(of_batch, moments, step, conv1, N, 0, kFilters1);
    find_filters1(filters, of_batch, gamma1, beta1);
    clear_image<kThreads>(x);
    __syncthreads();
    unsigned b[kTaps][kTiles][2];
#pragma unroll
    for (int i = 0; i < kTaps * kTiles * 2; ++i) {
        b[i / (kTiles * 2)][i / 2 % kTiles][i % 2] =
            weight_pair<kFilters2, kStride16>(weights, i / (kTiles * 2), i / 2 % kTiles, i % 2);
    }

    for (int image = blockIdx.x; image < N; image += gridDim.x) {
        load_image<kThreads>(images, image_number(order, step, N, image), x);
        __syncthreads();
        for (int p = first + threadIdx.x; p < end; p += kThreads) {
            float patch[4][4];
            load_patch(patch, x, p);
            int place = (p / kSide1 + 1) * kPaddedColumns + p % kSide1 + 1;
            unsigned *channels = reinterpret_cast<unsigned *>(pool + place * kStride16);
#pragma unroll 1
            for (int f = 0; f < kFilters1; f += 2) {
                int code[2];
                float low = pooled(patch, filters, f, code[0]);
                float high = pooled(patch, filters, f + 1, code[1]);
                channels[f / 2] = packed(low, high);
                if (p / kOfPart == part) {
                    code1[(image * kFilters1 + f) * kPixels1 + p] = code[0];
                    code1[(image * kFilters1 + f + 1) * kPixels1 + p] = code[1];
                }
            }
        }
        __syncthreads();
        uint4 *far = reinterpret_cast<uint4 *>(pool1 + image * kPixels1 * kFilters1);
        for (int i = threadIdx.x; i < kOfPart * 2; i += kThreads) { // eight channels each
            int p = part * kOfPart + i / 2;
            int place = (p / kSide1 + 1) * kPaddedColumns + p % kSide1 + 1;
            const Bf16 *near = pool + place * kStride16 + i % 2 * 8;
            far[part * kOfPart * 2 + i] = *reinterpret_cast<const uint4 *>(near);
        }

#pragma unroll 1
        for (int i = 0; i < kRowsOfWarp; ++i) {
            int of_part = warp * kRowsOfWarp + i;
            int row = part * kRows + of_part;
            float sum[kTiles][4] = {};
            const Bf16 *pixels =
                pool + (row * kPaddedColumns + lane % 16) * kStride16 + lane / 16 * 8;
#pragma unroll
            for (int t = 0; t < kTaps; ++t) {
                unsigned a[4];
                ldmatrix_4(a,
                           shared_address(pixels + (t / 3 * kPaddedColumns + t % 3) * kStride16));
#pragma unroll
                for (int tile = 0; tile < kTiles; ++tile) {
                    mma_bf16(sum[tile], a, b[t][tile][0], b[t][tile][1]);
                }
            }
#pragma unroll
            for (int j = 0; j < kTiles * 4; ++j) {
                int filter = j / 4 * 8 + lane % 4 * 2 + j % 2;
                int column = lane / 4 + j % 4 / 2 * 8;
                if (column < kSide1) {
                    results[filter * kOfPart + of_part * kSide1 + column] = sum[j / 4][j % 4];
                }
            }
        }
        __syncthreads();
        store_results2<kThreads, PARTS>(results, c2, means, squares, N, image, part);
    }
}
