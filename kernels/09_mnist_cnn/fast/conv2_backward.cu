// The way back from conv2's results, on tensor cores: dc2 of an image in shared memory; from there,
// with the pooled pixels, the gradient of conv2's filters, and by the turned filters the gradient of
// pool1, and with that at once what conv1's gradients need. Since dy1 is 0 but at the windows'
// largest, these are 10 sums for each filter: dy1 times the pixel under each of the nine taps, and
// dy1; update.cu makes the gradients of them, with the sums of input_moments.cu. sums1 is
// [16][10][blocks], dconv2 is [blocks][32][16][9].
// Each of PARTS blocks of an image takes as many of conv2's filters: of dy1 it has a part, of which
// the sums add up, too. A warp takes two rows of pixels and 16 filters.
// grid (any, PARTS), block 448 / PARTS, dynamic shared kSharedBytes

#include "early_launch.cuh"
#include "factors.cuh"
#include "reduce.cuh"

#ifndef PARTS
#define PARTS 1
#endif
constexpr int kFilters = kFilters2 / PARTS; // of this block
constexpr int kRowsOfWarp = 2;
constexpr int kRowGroups = kSide1 / kRowsOfWarp;
constexpr int kFilterGroups = kFilters / 16;
constexpr int kThreads = kRowGroups * kFilterGroups * kWarpSize;
constexpr int kChannels = kFilters1 + 8; // elements from pixel to pixel of pool1
constexpr int kStride = kFilters + 8;    // and of dc2; eight neighbours lie in different banks
constexpr int kPoolPlane = kPaddedPixels * kChannels;
constexpr int kGradientPlane = kPaddedPixels * kStride;
constexpr int kWeightPlane = kTaps * kFilters1 * kStride;
constexpr int kTiles = kFilters1 / 8;
constexpr int kRun = 14 / kFilterGroups; // pixels of a thread, for the sums
constexpr int kThreadsOfFilter = kPixels1 / kRun;
static_assert(kThreads == kFilters1 * kThreadsOfFilter, "each filter has as many threads");

#if BF16
typedef unsigned Result2; // two neighbouring filters of c2
#else
typedef float2 Result2;
#endif

// An image's share of what the kernels before have written, as it is in memory.
struct Raw {
    uint4 c2[kPixels1 * kFilters * sizeof(Result2) / 32];
    float dy2[kFilters * kPixels2];           // [filter][window]
    unsigned code2[kPixels2 * kFilters / 4];  // [window][filter]
    unsigned pixels[kPixels / 4];
    uint4 code1[kPixels1];                    // [pixel][channel]
};

// What dc2 = scale dy - alpha (c2 - mean) - beta has of each filter, times the factors' scale.
struct Backward2 {
    float mean[kFilters];
    float scale[kFilters];
    float alpha[kFilters];
    float beta[kFilters];
};

__device__ inline void find_backward2(Backward2 &found, const float *scale2, const float *sums2,
                                      int tiles, int first, int N)
{
    if (threadIdx.x < kFilters) {
        int f = first + threadIdx.x;
        float sums[2] = {};
#pragma unroll 4
        for (int tile = 0; tile < tiles; ++tile) {
            sums[0] += sums2[tile * 2 * kFilters2 + f];
            sums[1] += sums2[(tile * 2 + 1) * kFilters2 + f];
        }
        float pixels = (float)N * kPixels1;
        float scale = scale2[2 * kFilters2 + f] * gradient_scale(N);
        found.mean[threadIdx.x] = scale2[f];
        found.scale[threadIdx.x] = scale;
        found.alpha[threadIdx.x] = scale * scale2[kFilters2 + f] * (sums[1] / pixels);
        found.beta[threadIdx.x] = scale * (sums[0] / pixels);
    }
}

// Start copies of what image `image` needs.
__device__ inline void fetch(Raw &raw, Half *pool, const Result2 *c2, const float *dy2,
                             const unsigned char *code2, const unsigned char *code1,
                             const Half *pool1, const unsigned char *pixels, int first, int image)
{
    constexpr int kOfPixel = kFilters * sizeof(Result2) / 32; // 16 bytes each
    const char *from = reinterpret_cast<const char *>(c2 + (image * kPixels1 * kFilters2 + first) / 2);
    for (int i = threadIdx.x; i < kPixels1 * kOfPixel; i += kThreads) {
        cp_async_16(shared_address(raw.c2 + i), from + i / kOfPixel * kFilters2 * sizeof(Result2) / 2 +
                                                    i % kOfPixel * 16);
    }
    const float *gradients = dy2 + image * kInputs3 + first * kPixels2;
    for (int i = threadIdx.x; i < kFilters * kPixels2 / 4; i += kThreads) {
        cp_async_16(shared_address(raw.dy2 + i * 4), gradients + i * 4);
    }
    const unsigned char *codes = code2 + image * kPixels2 * kFilters2 + first;
    constexpr int kWords = kFilters / 4;
    for (int i = threadIdx.x; i < kPixels2 * kWords; i += kThreads) {
        cp_async_4(shared_address(raw.code2 + i), codes + i / kWords * kFilters2 + i % kWords * 4);
    }
    for (int i = threadIdx.x; i < kPixels / 16; i += kThreads) {
        cp_async_16(shared_address(raw.pixels + i * 4), pixels + i * 16);
    }
    for (int i = threadIdx.x; i < kPixels1; i += kThreads) {
        cp_async_16(shared_address(raw.code1 + i), code1 + (image * kPixels1 + i) * kFilters1);
    }
    const Half *channels = pool1 + (size_t)image * kHalves * kPixels1 * kFilters1;
    for (int i = threadIdx.x; i < kHalves * kPixels1 * 2; i += kThreads) { // eight channels each
        int pixel = i / 2 % kPixels1;
        int place = (pixel / kSide1 + 1) * kPaddedColumns + pixel % kSide1 + 1;
        Half *to = pool + i / (2 * kPixels1) * kPoolPlane + place * kChannels + i % 2 * 8;
        cp_async_16(shared_address(to), channels + i * 8);
    }
    cp_async_commit();
}

// Four neighbouring filters of a pixel of c2.
__device__ inline float4 four_results(const Raw &raw, int pixel, int four)
{
#if BF16
    uint2 two = reinterpret_cast<const uint2 *>(raw.c2)[pixel * (kFilters / 4) + four];
    return make_float4(__uint_as_float(two.x << 16), __uint_as_float(two.x & 0xffff0000),
                       __uint_as_float(two.y << 16), __uint_as_float(two.y & 0xffff0000));
#else
    return reinterpret_cast<const float4 *>(raw.c2)[pixel * (kFilters / 4) + four];
#endif
}

// dc2 of all windows into padded pixels; a thread takes a window of four filters.
__device__ inline void store_gradient2(Half *dc2, const Raw &raw, const Backward2 &of_batch)
{
    constexpr int kFours = kFilters / 4;
    for (int i = threadIdx.x; i < kPixels2 * kFours; i += kThreads) {
        int window = i / kFours;
        int four = i % kFours;
        unsigned codes = raw.code2[i];
        float4 mean = reinterpret_cast<const float4 *>(of_batch.mean)[four];
        float4 scale = reinterpret_cast<const float4 *>(of_batch.scale)[four];
        float4 alpha = reinterpret_cast<const float4 *>(of_batch.alpha)[four];
        float4 beta = reinterpret_cast<const float4 *>(of_batch.beta)[four];
        const float *dy2 = raw.dy2 + four * 4 * kPixels2 + window;
        float winner[] = {dy2[0] * scale.x, dy2[kPixels2] * scale.y, dy2[2 * kPixels2] * scale.z,
                          dy2[3 * kPixels2] * scale.w};
#pragma unroll
        for (int p = 0; p < 4; ++p) {
            int row = window / kSide2 * 2 + p / 2;
            int column = window % kSide2 * 2 + p % 2;
            float4 c = four_results(raw, row * kSide1 + column, four);
            float own[4];
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                own[j] = (int)(codes >> (8 * j) & 0xff) == p ? winner[j] : 0.0f;
            }
            own[0] -= fmaf(c.x - mean.x, alpha.x, beta.x);
            own[1] -= fmaf(c.y - mean.y, alpha.y, beta.y);
            own[2] -= fmaf(c.z - mean.z, alpha.z, beta.z);
            own[3] -= fmaf(c.w - mean.w, alpha.w, beta.w);
            unsigned low[kHalves];
            unsigned high[kHalves];
            split(low, own[0], own[1]);
            split(high, own[2], own[3]);
            Half *to = dc2 + ((row + 1) * kPaddedColumns + column + 1) * kStride + four * 4;
#pragma unroll
            for (int h = 0; h < kHalves; ++h) {
                *reinterpret_cast<uint2 *>(to + h * kGradientPlane) = make_uint2(low[h], high[h]);
            }
        }
    }
}

// The image from its bytes to normalised pixels with zeros around.
__device__ inline void store_image(float *x, const Raw &raw)
{
    constexpr float kScale = 1.0f / (255.0f * 0.3081f);
    constexpr float kShift = -0.1307f / 0.3081f;
    for (int i = threadIdx.x; i < kPixels / 4; i += kThreads) {
        unsigned four = raw.pixels[i];
        float *to = x + (i * 4 / kSide + 1) * kImageStride + i * 4 % kSide + 1;
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            to[j] = fmaf((float)(four >> (8 * j) & 0xff), kScale, kShift);
        }
    }
}

constexpr int kOwn = kTaps * kTiles * 4;          // of conv2's gradients, of a thread
constexpr int kGroup = kFilterGroups * kWarpSize; // threads that have all of a row's
constexpr int kOwnStride = kGroup + 1;            // neighbouring sums lie in neighbouring banks
constexpr int kResults = kFilters * kFilters1 * kTaps;

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    conv2_backward(const unsigned char *images, const int *order, const int *clock,
                   const Result2 *c2, const float *dy2, const unsigned char *code2,
                   const float *scale2, const float *sums2, const float *conv2, const Half *pool1,
                   const unsigned char *code1, float *sums1, float *dconv2, int tiles, int N)
{
    extern __shared__ float4 shared4[];
    Half *dc2 = reinterpret_cast<Half *>(shared4);      // [half][pixel][filter]
    Half *pools = dc2 + kHalves * kGradientPlane;       // two times [half][pixel][channel]
    Half *weights = pools + 2 * kHalves * kPoolPlane;   // [half][turned tap][channel][filter]
    float *x = reinterpret_cast<float *>(weights + kHalves * kWeightPlane);
    float *dy1 = x + (kImageFloats + 3) / 4 * 4;        // [filter group][channel][pixel]
    Raw *raws = reinterpret_cast<Raw *>(dy1 + kFilterGroups * kFilters1 * kPixels1);
    float *totals = reinterpret_cast<float *>(shared4); // at the end
    __shared__ __align__(16) Backward2 of_batch;

    let_the_next_begin();
    int step = clock[0];
    int lane = threadIdx.x % kWarpSize;
    int filters = threadIdx.x / kWarpSize % kFilterGroups; // of the warp
    int rows = threadIdx.x / kGroup;
    int first = blockIdx.y * kFilters;
#pragma unroll 6
    for (int i = threadIdx.x; i < kFilters / 2 * kFilters1 * kTaps; i += kThreads) {
        int filter = i / (kFilters1 * kTaps) * 2;
        int channel = i / kTaps % kFilters1;
        int turned = kTaps - 1 - i % kTaps;
        const float *from = conv2 + ((first + filter) * kFilters1 + channel) * kTaps + i % kTaps;
        unsigned words[kHalves];
        split(words, from[0] * kWeightScale, from[kFilters1 * kTaps] * kWeightScale);
        Half *to = weights + (turned * kFilters1 + channel) * kStride + filter;
#pragma unroll
        for (int h = 0; h < kHalves; ++h) {
            *reinterpret_cast<unsigned *>(to + h * kWeightPlane) = words[h];
        }
    }
    uint4 *zeros = reinterpret_cast<uint4 *>(dc2);
    constexpr int kZeros = kHalves * (kGradientPlane + 2 * kPoolPlane) / 8;
    for (int i = threadIdx.x; i < kZeros; i += kThreads) {
        zeros[i] = make_uint4(0, 0, 0, 0);
    }
    for (int i = threadIdx.x; i < kImageFloats; i += kThreads) {
        x[i] = 0.0f;
    }
    wait_for_the_one_before();
    find_backward2(of_batch, scale2, sums2, tiles, first, N);
    __syncthreads(); // the zeros are there

    int own_channel = threadIdx.x / kThreadsOfFilter; // for the sums
    int own = threadIdx.x % kThreadsOfFilter * kRun;
    int own_row = own / kSide1;
    int own_column = own % kSide1;
    float found[kTaps + 1] = {};
    float sum[kTaps][kTiles][4] = {};
    int turn = 0;
    if (blockIdx.x < N) {
        const unsigned char *pixels =
            images + (size_t)image_number(order, step, N, blockIdx.x) * kPixels;
        fetch(raws[0], pools, c2, dy2, code2, code1, pool1, pixels, first, blockIdx.x);
    }
    for (int image = blockIdx.x; image < N; image += gridDim.x) {
        Raw &raw = raws[turn];
        const Half *pool = pools + turn * kHalves * kPoolPlane;
        int next = image + gridDim.x;
        int number = next < N ? image_number(order, step, N, next) : 0;
        cp_async_wait<0>();
        __syncthreads(); // the image is there, and the one before has been used
        turn ^= 1;
        if (next < N) {
            fetch(raws[turn], pools + turn * kHalves * kPoolPlane, c2, dy2, code2, code1, pool1,
                  images + (size_t)number * kPixels, first, next);
        }
        store_gradient2(dc2, raw, of_batch);
        store_image(x, raw);
        __syncthreads();

        float back[kRowsOfWarp][kTiles][4] = {}; // of pool1
#pragma unroll 1
        for (int column = 0; column < 3; ++column) {
            unsigned b[3][kHalves][4];
#pragma unroll
            for (int row = 0; row < 3; ++row) {
                int line = (row * 3 + column) * kFilters1 + lane / 16 * 8 + lane % 8;
                load_tiles<kWeightPlane>(
                    b[row], weights + line * kStride + filters * 16 + lane / 8 % 2 * 8);
            }
#pragma unroll
            for (int i = 0; i < kRowsOfWarp + 2; ++i) { // a row of dc2, and those that it is for
                unsigned a[kHalves][4];
                int pixel = (rows * kRowsOfWarp + i) * kPaddedColumns + column + lane % 16;
                load_tiles<kGradientPlane>(
                    a, dc2 + pixel * kStride + filters * 16 + lane / 16 * 8);
#pragma unroll
                for (int row = 0; row < kRowsOfWarp; ++row) {
                    if (i - row >= 0 && i - row < 3) {
                        multiply(back[row][0], a, b[i - row], 0);
                        multiply(back[row][1], a, b[i - row], 1);
                    }
                }
            }
        }
#pragma unroll
        for (int i = 0; i < kRowsOfWarp * kTiles * 4; ++i) {
            int channel = i / 4 % kTiles * 8 + lane % 4 * 2 + i % 2;
            int row = rows * kRowsOfWarp + i / (kTiles * 4);
            int column = lane / 4 + i % 4 / 2 * 8;
            if (column < kSide1) {
                dy1[(filters * kFilters1 + channel) * kPixels1 + row * kSide1 + column] =
                    back[i / (kTiles * 4)][i / 4 % kTiles][i % 4];
            }
        }

        unsigned a[kRowsOfWarp][kHalves][4];
#pragma unroll
        for (int row = 0; row < kRowsOfWarp; ++row) {
            int pixel = (rows * kRowsOfWarp + row + 1) * kPaddedColumns + 1;
            pixel += lane % 8 + lane / 16 * 8;
            load_tiles_transposed<kGradientPlane>(
                a[row], dc2 + pixel * kStride + filters * 16 + lane / 8 % 2 * 8);
        }
#pragma unroll
        for (int i = 0; i < kRowsOfWarp + 2; ++i) {
#pragma unroll
            for (int column = 0; column < 3; ++column) {
                unsigned b[kHalves][4];
                int pixel = (rows * kRowsOfWarp + i) * kPaddedColumns + column + lane % 16;
                load_tiles_transposed<kPoolPlane>(b, pool + pixel * kChannels + lane / 16 * 8);
#pragma unroll
                for (int row = 0; row < kRowsOfWarp; ++row) {
                    if (i - row >= 0 && i - row < 3) {
                        multiply(sum[(i - row) * 3 + column][0], a[row], b, 0);
                        multiply(sum[(i - row) * 3 + column][1], a[row], b, 1);
                    }
                }
            }
        }
        __syncthreads(); // dy1 is there

        const unsigned char *codes = reinterpret_cast<const unsigned char *>(raw.code1);
#pragma unroll 2
        for (int i = 0; i < kRun; ++i) {
            int code = codes[(own + i) * kFilters1 + own_channel];
            float gradient = dy1[own_channel * kPixels1 + own + i];
            if (kFilterGroups == 2) {
                gradient += dy1[(kFilters1 + own_channel) * kPixels1 + own + i];
            }
            gradient = code == kClosed ? 0.0f : gradient;
            int place = (own_row * 2 + (code & 2) / 2) * kImageStride;
            place += (own_column + i) * 2 + code % 2;
#pragma unroll
            for (int t = 0; t < kTaps; ++t) {
                found[t] += gradient * x[place + t / 3 * kImageStride + t % 3];
            }
            found[kTaps] += gradient;
        }
    }

    __syncthreads(); // the last image has been used
    float scale = gradient_scale(N);
    float *sums = dy1; // [thread][sum]
    constexpr int kSums = kTaps + 1;
#pragma unroll
    for (int t = 0; t < kSums; ++t) {
        sums[threadIdx.x * kSums + t] = found[t];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < kFilters1 * kSums; i += kThreads) {
        float total = 0.0f;
#pragma unroll 7
        for (int r = 0; r < kThreadsOfFilter; ++r) {
            total += sums[(i / kSums * kThreadsOfFilter + r) * kSums + i % kSums];
        }
        int block = blockIdx.x * gridDim.y + blockIdx.y;
        sums1[i * gridDim.x * gridDim.y + block] = total / (scale * kWeightScale);
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
        totals[(rows * kOwn + i) * kOwnStride + threadIdx.x % kGroup] =
            sum[i / (kTiles * 4)][i / 4 % kTiles][i % 4];
    }
    __syncthreads();
    float *part = dconv2 + (blockIdx.x * kFilters2 + first) * kFilters1 * kTaps;
    for (int i = threadIdx.x; i < kResults; i += kThreads) {
        int f = i / (kFilters1 * kTaps);
        int c = i / kTaps % kFilters1;
        int sum_of_thread = (i % kTaps * kTiles + c / 8) * 4 + f % 16 / 8 * 2 + c % 2;
        int thread = f / 16 * kWarpSize + f % 8 * 4 + c % 8 / 2;
        float total = 0.0f;
#pragma unroll
        for (int g = 0; g < kRowGroups; ++g) {
            total += totals[(g * kOwn + sum_of_thread) * kOwnStride + thread];
        }
        part[i] = total / (scale * kPixelScale);
    }
}
