// As conv2_backward_weight.cu, on tensor cores: bf16 factors, fp32 sums. A step of k is a row of 16
// pixels, of which 14 count; both factors are read transposed from where the pixels lie. Each of
// PARTS blocks takes as many of the 32 filters; a warp takes 16 of them, all 16 channels and 9
// taps, and two rows of each image.
// grid (any, PARTS), block (448 / PARTS), dynamic shared kSharedBytes

#include "gradient2_pairs.cuh"
#include "reduce.cuh"

#ifndef PARTS
#define PARTS 1
#endif
constexpr int kOfPart = kFilters2 / PARTS; // filters of this block
constexpr int kRowsOfWarp = 2;
constexpr int kGroups = kSide1 / kRowsOfWarp; // of threads
constexpr int kGroup = kOfPart / 16 * kWarpSize;
constexpr int kThreads = kGroups * kGroup;
constexpr int kTiles = kFilters1 / 8;
constexpr int kOwn = kTaps * kTiles * 4; // sums of a thread
constexpr int kOwnStride = kGroup + 1;   // neighbouring sums lie in neighbouring banks
constexpr int kResults = kOfPart * kFilters1 * kTaps;

extern "C" __global__ void __launch_bounds__(kThreads)
    conv2_backward_weight_bf16(const float *c2, const float *dy2, const unsigned char *code2,
                               const float *scale2, const float *sums2, const unsigned short *pool1,
                               float *dconv2, int tiles, int N)
{
    extern __shared__ float4 shared4[];
    Bf16 *dc2 = reinterpret_cast<Bf16 *>(shared4);  // [pixel][filter]
    Bf16 *pool = dc2 + kPaddedPixels * kStride32;   // [pixel][channel]
    float *totals = reinterpret_cast<float *>(dc2); // [group][sum of a thread][thread], at the end
    __shared__ Backward2 of_batch;

    int lane = threadIdx.x % kWarpSize;
    int first = blockIdx.y * kOfPart; // filter of the block, and of the warp
    int filters = first + threadIdx.x % kGroup / kWarpSize * 16;
    int group = threadIdx.x / kGroup;
    unsigned *pairs = reinterpret_cast<unsigned *>(shared4);
    for (int i = threadIdx.x; i < kPaddedPixels * (kStride32 + kStride16) / 2; i += kThreads) {
        pairs[i] = 0;
    }
    find_backward2(of_batch, scale2, sums2, tiles, N);

    float sum[kTaps][kTiles][4] = {};
    for (int image = blockIdx.x; image < N; image += gridDim.x) {
        __syncthreads(); // the image before has been used
        load_gradient2_pairs<kThreads, kOfPart, kSide2>(dc2, of_batch, c2, dy2, code2, image, first,
                                                        0);
        const uint4 *from = reinterpret_cast<const uint4 *>(pool1 + image * kPixels1 * kFilters1);
        for (int i = threadIdx.x; i < kPixels1 * 2; i += kThreads) { // eight channels each
            int place = (i / 2 / kSide1 + 1) * kPaddedColumns + i / 2 % kSide1 + 1;
            *reinterpret_cast<uint4 *>(pool + place * kStride16 + i % 2 * 8) = from[i];
        }
        __syncthreads();
#pragma unroll 1
        for (int row = group * kRowsOfWarp; row < (group + 1) * kRowsOfWarp; ++row) {
            int pixel = (row + 1) * kPaddedColumns + 1 + lane % 8 + lane / 16 * 8;
            unsigned a[4];
            ldmatrix_4_transposed(
                a, shared_address(dc2 + pixel * kStride32 + filters + lane / 8 % 2 * 8));
            const Bf16 *pixels =
                pool + (row * kPaddedColumns + lane % 16) * kStride16 + lane / 16 * 8;
#pragma unroll
            for (int t = 0; t < kTaps; ++t) {
                unsigned b[4];
                int place = (t / 3 * kPaddedColumns + t % 3) * kStride16;
                ldmatrix_4_transposed(b, shared_address(pixels + place));
                mma_bf16(sum[t][0], a, b[0], b[1]);
                mma_bf16(sum[t][1], a, b[2], b[3]);
            }
        }
    }

    __syncthreads(); // the last image has been used
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
        totals[(group * kOwn + i) * kOwnStride + threadIdx.x % kGroup] =
            sum[i / (kTiles * 4)][i / 4 % kTiles][i % 4];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < kResults; i += kThreads) {
        int f = i / (kFilters1 * kTaps);
        int c = i / kTaps % kFilters1;
        int own = (i % kTaps * kTiles + c / 8) * 4 + f % 16 / 8 * 2 + c % 2;
        int thread = f / 16 * kWarpSize + f % 8 * 4 + c % 8 / 2;
        float total = 0.0f;
#pragma unroll
        for (int g = 0; g < kGroups; ++g) {
            total += totals[(g * kOwn + own) * kOwnStride + thread];
        }
        dconv2[(blockIdx.x * PARTS + blockIdx.y) * kResults + i] = total;
    }
}
