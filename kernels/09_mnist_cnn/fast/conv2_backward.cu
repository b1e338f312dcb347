// The way back from conv2's results, on tensor cores: dc2 of an image in shared memory; from there,
// with the pooled pixels, the gradient of conv2's filters, and by the turned filters the gradient
// of pool1, and with that at once what conv1's gradients need. Since dy1 is 0 but at the windows'
// largest, these are 10 sums for each filter: dy1 times the pixel under each of the nine taps, and
// dy1; update.cu makes the gradients of them, with the sums of input_moments.cuh. sums1 is
// [16][10][blocks]; dconv2 is [blocks] of conv2's weights, in the order of weight_of_sum. Each of
// BACK_PARTS blocks of an image takes as many of conv2's filters: of dy1 it has a part, of which
// the sums add up, too. A warp takes two rows of pixels and 16 filters.
// grid (any, BACK_PARTS), block 448 / BACK_PARTS, dynamic shared as fast_network.py says

#include "bulk.cuh"
#include "early_launch.cuh"
#include "prepared.cuh"
#include "reduce.cuh"

constexpr int kFilters = kBackFilters; // of this block
constexpr int kRowsOfWarp = 2;
constexpr int kRowGroups = kSide1 / kRowsOfWarp;
constexpr int kFilterGroups = kFilters / 16;
constexpr int kThreads = kRowGroups * kFilterGroups * kWarpSize;
constexpr int kStride = kBackStride; // from pixel to pixel of dc2: eight lie in different banks
constexpr int kGradientPlane = kPaddedPixels * kStride;
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
    Result2 c2[kFilterGroups][kPixels1 * 8];     // [pixel][two filters]
    float dy2[kFilters * kPixels2];              // [filter][window]
    unsigned code2[kFilterGroups][kPixels2 * 4]; // [window][four filters]
    unsigned pixels[kPixels / 4];
};

struct Pooled {
    Half pool[kHalves][kPoolPlane];          // pool1
    unsigned code1[kFilters1 / 4][kPixels1]; // of four channels each
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
        float part = 1.0f / ((float)N * kPixels1);
        float scale = scale2[2 * kFilters2 + f] * gradient_scale(N);
        found.mean[threadIdx.x] = scale2[f];
        found.scale[threadIdx.x] = scale;
        found.alpha[threadIdx.x] = scale * scale2[kFilters2 + f] * (sums[1] * part);
        found.beta[threadIdx.x] = scale * (sums[0] * part);
    }
}

// Start copies of what image `image` needs, by one thread.
__device__ inline void fetch(Raw &raw, Pooled &pooled, const Result2 *c2, const float *dy2,
                             const unsigned *code2, const unsigned *code1, const Half *pool1,
                             const unsigned char *pixels, int image, unsigned barrier)
{
    int first = blockIdx.y * kFilters;
    mbarrier_expect(barrier, sizeof(Raw) + sizeof(Pooled));
    bulk_load(raw.c2, c2 + (image * kFilters2 + first) / 2 * kPixels1, sizeof(raw.c2), barrier);
    bulk_load(raw.dy2, dy2 + image * kInputs3 + first * kPixels2, sizeof(raw.dy2), barrier);
    bulk_load(raw.code2, code2 + (image * kFilters2 + first) / 4 * kPixels2, sizeof(raw.code2),
              barrier);
    bulk_load(raw.pixels, pixels, kPixels, barrier);
    bulk_load(pooled.pool, pool1 + (size_t)image * kHalves * kPoolPlane, sizeof(pooled.pool),
              barrier);
    bulk_load(pooled.code1, code1 + image * kFilters1 / 4 * kPixels1, sizeof(pooled.code1),
              barrier);
}

// Four neighbouring filters of a pixel of c2.
__device__ inline float4 four_results(const Result2 *c2, int pixel, int four)
{
#if BF16
    uint2 two = reinterpret_cast<const uint2 *>(c2)[pixel * 4 + four];
    return make_float4(__uint_as_float(two.x << 16), __uint_as_float(two.x & 0xffff0000),
                       __uint_as_float(two.y << 16), __uint_as_float(two.y & 0xffff0000));
#else
    return reinterpret_cast<const float4 *>(c2)[pixel * 4 + four];
#endif
}

// dc2 of all windows into padded pixels; a thread takes a window of four filters.
__device__ inline void store_gradient2(Half *dc2, const Raw &raw, const Backward2 &of_batch)
{
    for (int i = threadIdx.x; i < kFilterGroups * kPixels2 * 4; i += kThreads) {
        int group = i / (kPixels2 * 4);
        int window = i / 4 % kPixels2;
        int four = i % 4;
        int first = group * 16 + four * 4;
        unsigned codes = raw.code2[0][i];
        float4 mean = *reinterpret_cast<const float4 *>(of_batch.mean + first);
        float4 scale = *reinterpret_cast<const float4 *>(of_batch.scale + first);
        float4 alpha = *reinterpret_cast<const float4 *>(of_batch.alpha + first);
        float4 beta = *reinterpret_cast<const float4 *>(of_batch.beta + first);
        const float *dy2 = raw.dy2 + first * kPixels2 + window;
        float winner[] = {dy2[0] * scale.x, dy2[kPixels2] * scale.y, dy2[2 * kPixels2] * scale.z,
                          dy2[3 * kPixels2] * scale.w};
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            int p = k ^ (window & 1); // neighbouring windows read from different banks
            int row = window / kSide2 * 2 + p / 2;
            int column = window % kSide2 * 2 + p % 2;
            float4 c = four_results(raw.c2[group], row * kSide1 + column, four);
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
            Half *to = dc2 + ((row + 1) * kPaddedColumns + column + 1) * kStride + first;
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

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    conv2_backward(const unsigned char *images, const int *order, int *clock, const Result2 *c2,
                   const float *dy2, const unsigned *code2, const float *scale2, const float *sums2,
                   const Half *turned2, const Half *pool1, const unsigned *code1, float *sums1,
                   float *dconv2, int tiles, int N)
{
    extern __shared__ float4 shared4[];
    Raw &raw = *reinterpret_cast<Raw *>(shared4);
    Pooled *pooled = reinterpret_cast<Pooled *>(&raw + 1); // two
    Half *dc2 = reinterpret_cast<Half *>(pooled + 2);      // [half][pixel][filter]
    Half *weights = dc2 + kHalves * kGradientPlane;        // [half][turned tap][channel][filter]
    float *x = reinterpret_cast<float *>(weights + kHalves * kBackPlane);
    float *dy1 = x + (kImageFloats + 3) / 4 * 4;        // [filter group][channel][pixel]
    float *totals = reinterpret_cast<float *>(shared4); // at the end
    __shared__ __align__(16) Backward2 of_batch;
    __shared__ unsigned long long full; // the barriers of an image's copies, and of the weights'
    __shared__ unsigned long long weights_full;

    int step = clock[1];
    int lane = threadIdx.x % kWarpSize;
    int filters = threadIdx.x / kWarpSize % kFilterGroups; // of the warp
    int rows = threadIdx.x / kGroup;
    int first = blockIdx.y * kFilters;
    unsigned barrier = shared_address(&full);
    unsigned weights_barrier = shared_address(&weights_full);
    if (threadIdx.x == 0) {
        constexpr int kBytes = kHalves * kBackPlane * sizeof(Half);
        mbarrier_init(barrier, 1);
        mbarrier_init(weights_barrier, 1);
        mbarriers_are_ready();
        mbarrier_expect(weights_barrier, kBytes);
        bulk_load(weights, turned2 + blockIdx.y * kHalves * kBackPlane, kBytes, weights_barrier);
    }
    uint4 *zeros = reinterpret_cast<uint4 *>(dc2);
    for (int i = threadIdx.x; i < kHalves * kGradientPlane / 8; i += kThreads) {
        zeros[i] = make_uint4(0, 0, 0, 0);
    }
    for (int i = threadIdx.x; i < kImageFloats; i += kThreads) {
        x[i] = 0.0f;
    }
    int number = image_number(order, step, N, blockIdx.x);
    wait_for_the_one_before();
    let_the_next_begin();
    if (threadIdx.x == 0) {
        const unsigned char *pixels = images + (size_t)number * kPixels;
        fetch(raw, pooled[0], c2, dy2, code2, code1, pool1, pixels, blockIdx.x, barrier);
        if (blockIdx.x == 0 && blockIdx.y == 0) {
            clock[0] = step + 1; // for the next step's first kernel, which may begin early
        }
    }
    find_backward2(of_batch, scale2, sums2, tiles, first, N);
    __syncthreads(); // the zeros are there
    mbarrier_wait(weights_barrier, 0);

    int own_channel = threadIdx.x / kThreadsOfFilter; // for the sums
    int own = threadIdx.x % kThreadsOfFilter * kRun;
    int own_row = own / kSide1;
    int own_column = own % kSide1;
    float found[kTaps + 1] = {};
    float sum[kTaps][kTiles][4] = {};
    int turn = 0;
    for (int image = blockIdx.x; image < N; image += gridDim.x) {
        const Half *pool = pooled[turn].pool[0];
        const unsigned *codes = pooled[turn].code1[own_channel / 4];
        int next = image + gridDim.x;
        if (threadIdx.x == 0 && next < N) {
            number = image_number(order, step, N, next);
        }
        mbarrier_wait(barrier, turn);
        turn ^= 1;
        store_gradient2(dc2, raw, of_batch);
        store_image(x, raw);
        __syncthreads(); // both are there, and what was copied has been used
        if (threadIdx.x == 0 && next < N) {
            fetch(raw, pooled[turn], c2, dy2, code2, code1, pool1,
                  images + (size_t)number * kPixels, next, barrier);
        }

        float back[kRowsOfWarp][kTiles][4] = {}; // of pool1
#pragma unroll 1
        for (int column = 0; column < 3; ++column) {
            unsigned b[3][kHalves][4];
#pragma unroll
            for (int row = 0; row < 3; ++row) {
                int line = (row * 3 + column) * kFilters1 + lane / 16 * 8 + lane % 8;
                load_tiles<kBackPlane>(b[row],
                                       weights + line * kStride + filters * 16 + lane / 8 % 2 * 8);
            }
#pragma unroll
            for (int i = 0; i < kRowsOfWarp + 2; ++i) { // a row of dc2, and those that it is for
                unsigned a[kHalves][4];
                int pixel = (rows * kRowsOfWarp + i) * kPaddedColumns + column + lane % 16;
                load_tiles<kGradientPlane>(a, dc2 + pixel * kStride + filters * 16 + lane / 16 * 8);
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
            load_tiles_transposed<kGradientPlane>(a[row], dc2 + pixel * kStride + filters * 16 +
                                                              lane / 8 % 2 * 8);
        }
#pragma unroll
        for (int i = 0; i < kRowsOfWarp + 2; ++i) {
#pragma unroll
            for (int column = 0; column < 3; ++column) {
                unsigned b[kHalves][4];
                int pixel = (rows * kRowsOfWarp + i) * kPaddedColumns + column + lane % 16;
                load_tiles_transposed<kPoolPlane>(b, pool + pool_place(pixel, lane / 16));
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

#pragma unroll
        for (int i = 0; i < kRun; ++i) {
            int code = codes[own + i] >> (own_channel % 4 * 8) & 0xff;
            float gradient = dy1[own_channel * kPixels1 + own + i];
            if (kFilterGroups == 2) {
                gradient += dy1[(kFilters1 + own_channel) * kPixels1 + own + i];
            }
            gradient = code == kClosed ? 0.0f : gradient;
            int place = (code & 2) / 2 * kImageStride + code % 2;
            const float *under = x + own_row * 2 * kImageStride + (own_column + i) * 2 + place;
#pragma unroll
            for (int t = 0; t < kTaps; ++t) {
                found[t] += gradient * under[t / 3 * kImageStride + t % 3];
            }
            found[kTaps] += gradient;
        }
        __syncthreads(); // x, dy1 and dc2 have been used
    }

    float unscale = 1.0f / gradient_scale(N);
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
        sums1[i * gridDim.x * gridDim.y + block] = total * unscale * (1.0f / kWeightScale);
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
        totals[(rows * kOwn + i) * kOwnStride + threadIdx.x % kGroup] =
            sum[i / (kTiles * 4)][i / 4 % kTiles][i % 4];
    }
    __syncthreads();
    float *part = dconv2 + (blockIdx.x * gridDim.y + blockIdx.y) * kOwn * kGroup;
    for (int i = threadIdx.x; i < kOwn * kGroup; i += kThreads) {
        float total = 0.0f;
#pragma unroll
        for (int g = 0; g < kRowGroups; ++g) {
            total += totals[(g * kOwn + i / kGroup) * kOwnStride + i % kGroup];
        }
        part[i] = total * unscale * (1.0f / kPixelScale);
    }
}
