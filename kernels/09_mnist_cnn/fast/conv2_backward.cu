// The backward pass from conv2's results, on tensor cores: dc2 of an image in shared memory. From
// there, with the pooled pixels, the gradient of conv2's filters, and by the flipped filters the
// gradient of pool1, dy1, and with that at once the sums for conv1's gradients. Since conv1's
// gradient is dy1 at the windows' largest and else 0, these are 10 sums for each filter: dy1 times
// the pixel under each of the nine taps, and dy1. update.cu makes the gradients of them, with the
// sums of input_moments.cuh. They are products as well: of the pixels under the taps, when winner
// is p, and dy1 where it is, which never leaves the registers. sums1 is [16][10][blocks], dconv2 is
// [blocks] of conv2's weights, in the order of weight_of_sum. Each of BACK_PARTS blocks of an image
// takes as many of conv2's filters: of dy1 it has a part, whose sums also add up. It begins when
// all blocks of linear_layers.cu run, and waits for their first results by their count in
// `arrived`.
// grid (any, BACK_PARTS), block 448, dynamic shared as fast_network.py says

#include "bulk.cuh"
#include "early_launch.cuh"
#include "prepared.cuh"
#include "reduce.cuh"

constexpr int kFilters = kBackFilters; // of this block
constexpr int kFilterGroups = kFilters / 16;
constexpr int kThreads = kSide1 * kWarpSize; // a warp for each row of pixels
constexpr int kWarps = kThreads / kWarpSize;
constexpr int kStride = kBackStride; // from pixel to pixel of dc2: eight are in different banks
constexpr int kGradientPlane = kPaddedPixels * kStride;
constexpr int kShares = 2 / kFilterGroups; // threads that share a window of dc2

// The image as pairs of pixels under the same tap of two neighbouring windows: word c of a row has
// padded pixels c and c + 2. Odd rows begin 16 banks further.
constexpr int kPairPlane = (kSide + 2) * 32;

__device__ inline int pair_place(int row, int column)
{
    return row * 32 + (column ^ row % 2 * 16);
}

#if BF16
typedef unsigned Result2; // two neighbouring filters of c2
#else
typedef float2 Result2;
#endif

// An image's share of the results of the kernels before, as it is in memory.
struct Raw {
    Result2 c2[kFilterGroups][kPixels1 * 8];     // [pixel][two filters]
    unsigned code2[kFilterGroups][kPixels2 * 4]; // [window][four filters]
    unsigned pixels[kPixels / 4];
};

struct Pooled {
    Half pool[kHalves][kPoolPlane];          // pool1
    unsigned code1[kFilters1 / 4][kPixels1]; // of four channels each
};

// The terms of dc2 = scale dy - alpha (c2 - mean) - beta for each filter, times the factors' scale.
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
        constexpr int kStep = 2 * kFilters2; // from tile to tile
        float sums[] = {strided_sum<8>(sums2 + f, 0, tiles * kStep, kStep),
                        strided_sum<8>(sums2 + f, kFilters2, tiles * kStep, kStep)};
        float part = 1.0f / ((float)N * kPixels1);
        float scale = scale2[2 * kFilters2 + f] * gradient_scale(N);
        found.mean[threadIdx.x] = scale2[f];
        found.scale[threadIdx.x] = scale;
        found.alpha[threadIdx.x] = scale * scale2[kFilters2 + f] * (sums[1] * part);
        found.beta[threadIdx.x] = scale * (sums[0] * part);
    }
}

// Start copies of conv1_conv2.cu's results for image `image`, by one thread.
__device__ inline void fetch(Raw &raw, Pooled &pooled, const Result2 *c2, const unsigned *code2,
                             const unsigned *code1, const Half *pool1, const unsigned char *pixels,
                             int image, unsigned barrier)
{
    int first = blockIdx.y * kFilters;
    mbarrier_expect(barrier, sizeof(Raw) + sizeof(Pooled));
    bulk_load(raw.c2, c2 + (image * kFilters2 + first) / 2 * kPixels1, sizeof(raw.c2), barrier);
    bulk_load(raw.code2, code2 + (image * kFilters2 + first) / 4 * kPixels2, sizeof(raw.code2),
              barrier);
    bulk_load(raw.pixels, pixels, kPixels, barrier);
    bulk_load(pooled.pool, pool1 + (size_t)image * kHalves * kPoolPlane, sizeof(pooled.pool),
              barrier);
    bulk_load(pooled.code1, code1 + image * kFilters1 / 4 * kPixels1, sizeof(pooled.code1),
              barrier);
}

// A thread's part of dc2: windows of four filters, or two of a window's four pixels.
struct Share2 {
    int group; // of 16 filters
    int window;
    int four; // filters of the group
    int part; // of the window
};

__device__ inline Share2 share2()
{
    int i = threadIdx.x / kShares;
    return {i / (kPixels2 * 4), i / 4 % kPixels2, i % 4, (int)threadIdx.x % kShares};
}

// Its gradients, from linear_layers.cu's results for image `image`.
__device__ inline float4 load_gradients(const float *dy2, const Share2 &share, int image)
{
    if (share.group >= kFilterGroups) {
        return {};
    }
    int filter = blockIdx.y * kFilters + share.group * 16 + share.four * 4;
    const float *from = dy2 + image * kInputs3 + filter * kPixels2 + share.window;
    return make_float4(from[0], from[kPixels2], from[2 * kPixels2], from[3 * kPixels2]);
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

// The thread's share of dc2 into padded pixels.
__device__ inline void store_gradient2(Half *dc2, const Raw &raw, const Backward2 &of_batch,
                                       const Share2 &share, const float4 &dy2)
{
    if (share.group >= kFilterGroups) {
        return;
    }
    int first = share.group * 16 + share.four * 4;
    unsigned codes = raw.code2[share.group][share.window * 4 + share.four];
    float4 mean = *reinterpret_cast<const float4 *>(of_batch.mean + first);
    float4 scale = *reinterpret_cast<const float4 *>(of_batch.scale + first);
    float4 alpha = *reinterpret_cast<const float4 *>(of_batch.alpha + first);
    float4 beta = *reinterpret_cast<const float4 *>(of_batch.beta + first);
    float winner[] = {dy2.x * scale.x, dy2.y * scale.y, dy2.z * scale.z, dy2.w * scale.w};
#pragma unroll
    for (int k = 0; k < 4 / kShares; ++k) {
        int p = (share.part * 2 + k) ^ (share.window & 1); // neighbours in other banks
        int row = share.window / kSide2 * 2 + p / 2;
        int column = share.window % kSide2 * 2 + p % 2;
        float4 c = four_results(raw.c2[share.group], row * kSide1 + column, share.four);
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

// The image's pairs from its bytes. The last threads take it, as the first have more of dc2.
__device__ inline void store_image(unsigned *pairs, const Raw &raw)
{
    constexpr float kScale = kPixelScale / (255.0f * 0.3081f);
    constexpr float kShift = -0.1307f / 0.3081f * kPixelScale;
    int i = kThreads - 1 - (int)threadIdx.x;
    if (i >= kPixels / 4) {
        return;
    }
    int row = i * 4 / kSide + 1;
    int column = i * 4 % kSide;
    unsigned fours[] = {raw.pixels[i], column + 4 < kSide ? raw.pixels[i + 1] : 0};
    float value[7]; // from padded pixel `column` on, which is the one before
    value[0] = 0.0f;
#pragma unroll
    for (int j = 0; j < 6; ++j) {
        bool there = j < 4 || column + 4 < kSide;
        float pixel = fours[j / 4] >> (8 * (j % 4)) & 0xff;
        value[j + 1] = there ? fmaf(pixel, kScale, kShift) : 0.0f;
    }
#pragma unroll
    for (int j = 0; j < 5; ++j) {
        if (j > 0 || column == 0) {
            unsigned words[kHalves];
            split(words, value[j], value[j + 2]);
#pragma unroll
            for (int h = 0; h < kHalves; ++h) {
                pairs[h * kPairPlane + pair_place(row, column + j)] = words[h];
            }
        }
    }
}

// prmt: four bytes of a and b. A digit of 8 or more gives eight times the top bit of its byte.
__device__ inline unsigned permute(unsigned a, unsigned b, unsigned digits)
{
    unsigned result;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(digits));
    return result;
}

constexpr int kOwn = kTaps * kBackTiles * 4; // of conv2's gradients, of a thread
constexpr int kRowGroups = kWarps / 2;       // two warps share two rows of pixels
constexpr int kGroup = 2 * kWarpSize;        // threads that have all of those
constexpr int kOwnStride = kGroup + 1;       // neighbouring sums are in neighbouring banks
constexpr int kTapSums = 8;                  // of conv1's sums, of a thread

// Threads whose registers are left unused: for blocks of update.cu, where that has more to gain
// than it costs here. A warp with all channels needs its registers itself.
constexpr int kBeside = kFilterGroups == 2 ? 64 : 192;

extern "C" __global__ void __launch_bounds__(kThreads + kBeside, 1)
    conv2_backward(const unsigned char *images, const int *order, int *clock, const Result2 *c2,
                   const float *dy2, const unsigned *code2, const float *scale2, const float *sums2,
                   const Half *turned2, const Half *pool1, const unsigned *code1, float *sums1,
                   float *dconv2, const int *arrived, int tiles, int N)
{
    extern __shared__ float4 shared4[];
    Raw &raw = *reinterpret_cast<Raw *>(shared4);
    Pooled *pooled = reinterpret_cast<Pooled *>(&raw + 1); // two
    Half *dc2 = reinterpret_cast<Half *>(pooled + 2);      // [half][pixel][filter]
    Half *weights = dc2 + kHalves * kGradientPlane;        // [half][turned tap][channel][filter]
    unsigned *pairs = reinterpret_cast<unsigned *>(weights + kHalves * kBackPlane);
    float *totals = reinterpret_cast<float *>(shared4);        // at the end
    float *tap_sums = totals + kRowGroups * kOwn * kOwnStride; // [warp][sum of a lane][lane]
    __shared__ __align__(16) Backward2 of_batch;
    __shared__ unsigned long long full; // the barriers of an image's copies, and of the weights'
    __shared__ unsigned long long weights_full;

    int step = clock[1];
    int lane = threadIdx.x % kWarpSize;
    int warp = threadIdx.x / kWarpSize;
    int group = lane / 4; // rows and columns of an mma's tiles that a lane has
    int quad = lane % 4;
    int rows = warp / 2 * 2; // the two rows of pixels, for conv2's gradients
    int filters = kFilterGroups == 2 ? warp % 2 * 16 : 0; // and the half that the warp has of them
    int part = kFilterGroups == 2 ? lane / 16 : warp % 2;
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
    if (threadIdx.x == 0) { // conv1_conv2.cu has ended: linear_layers.cu waits before this begins
        const unsigned char *pixels =
            images + (size_t)image_number(order, step, N, blockIdx.x) * kPixels;
        fetch(raw, pooled[0], c2, code2, code1, pool1, pixels, blockIdx.x, barrier);
    }
    uint4 *zeros = reinterpret_cast<uint4 *>(dc2);
    for (int i = threadIdx.x; i < kHalves * kGradientPlane / 8; i += kThreads) {
        zeros[i] = make_uint4(0, 0, 0, 0);
    }
    for (int i = threadIdx.x; i < kHalves * kPairPlane; i += kThreads) {
        pairs[i] = 0;
    }
    if (threadIdx.x == 0) {
        wait_for_arrivals(arrived, tiles * kBlocks3);
    }
    __syncthreads(); // the zeros and linear_layers.cu's results are there
    Share2 share = share2();
    float4 gradients = load_gradients(dy2, share, blockIdx.x);
    if (blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0) {
        clock[0] = step + 1; // for the next step's first kernel, which may begin early
    }
    find_backward2(of_batch, scale2, sums2, tiles, first, N);
    mbarrier_wait(barrier, 0);
    store_image(pairs, raw);
    mbarrier_wait(weights_barrier, 0);
    __syncthreads();

    unsigned digits = group % 4 * 0x11 + 0x40; // the byte of the lane's channel, of two words
    unsigned ones[kHalves];                    // where there is no pixel, to add up dy1
    split(ones, kPixelScale, kPixelScale);
    float found[2][4] = {}; // of eight channels: of a tap, and of the last tap or dy1
    float sum[kTaps][kBackTiles][4] = {};
    int turn = 0;
    for (int image = blockIdx.x; image < N; image += gridDim.x) {
        const Half *pool = pooled[turn].pool[0];
        const unsigned *codes = pooled[turn].code1[0];
        int next = image + gridDim.x;
        int number = threadIdx.x == 0 && next < N ? image_number(order, step, N, next) : 0;
        mbarrier_wait(barrier, turn);
        turn ^= 1;
        store_gradient2(dc2, raw, of_batch, share, gradients);
        if (image != blockIdx.x) {
            store_image(pairs, raw);
        }
        __syncthreads(); // both are there, and the copies have been used
        if (threadIdx.x == 0 && next < N) {
            const unsigned char *pixels = images + (size_t)number * kPixels;
            fetch(raw, pooled[turn], c2, code2, code1, pool1, pixels, next, barrier);
        }
        if (next < N) {
            gradients = load_gradients(dy2, share, next);
        }

        // dy1 of a row: 16 channels x 16 pixels, of which 14 count
        float back[2][4] = {};
#pragma unroll
        for (int t = 0; t < kTaps; ++t) {
#pragma unroll
            for (int f = 0; f < kFilters; f += 16) {
                unsigned a[kHalves][4];
                unsigned b[kHalves][4];
                int line = t * kFilters1 + lane % 16;
                load_tiles<kBackPlane>(a, weights + line * kStride + f + lane / 16 * 8);
                int pixel = (warp + t / 3) * kPaddedColumns + t % 3 + lane % 8 + lane / 16 * 8;
                load_tiles<kGradientPlane>(b, dc2 + pixel * kStride + f + lane / 8 % 2 * 8);
                multiply(back[0], a, b, 0);
                multiply(back[1], a, b, 1);
            }
        }
        if (image == blockIdx.x) { // update.cu needs all of linear_layers.cu
            wait_for_the_one_before();
            let_the_next_begin();
        }
        unsigned dy1[kHalves][4]; // as factors: of channels `group` two pixels, and of the last
        unsigned winner[4];       // eight pixels, then of channels group + 8; and their winners
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const float *two = back[i % 2] + i / 2 * 2;
            unsigned words[kHalves];
            split(words, two[0] * (1.0f / kWeightScale), two[1] * (1.0f / kWeightScale));
#pragma unroll
            for (int h = 0; h < kHalves; ++h) {
                dy1[h][i] = words[h];
            }
            int column = quad * 2 + i % 2 * 8;
            winner[i] = 0;
            if (column < kSide1) {
                int at = (group / 4 + i / 2 * 2) * kPixels1 + warp * kSide1 + column;
                uint2 code = *reinterpret_cast<const uint2 *>(codes + at);
                winner[i] = permute(code.x, code.y, digits);
            }
        }
#pragma unroll
        for (int p = 0; p < 4; ++p) { // where a window's largest is
            unsigned a[kHalves][4];
            unsigned b[kHalves][4];
#pragma unroll
            for (int i = 0; i < 2; ++i) { // eight windows
                int row = warp * 2 + p / 2;
                int column = quad * 4 + p % 2 + i * 16;
                int place = pair_place(row + group / 3, column + group % 3);
                int last = pair_place(row + 2, column + 2);
#pragma unroll
                for (int h = 0; h < kHalves; ++h) {
                    const unsigned *of_half = pairs + h * kPairPlane;
                    a[h][i * 2] = of_half[place];
                    a[h][i * 2 + 1] = group == 0 ? of_half[last] : group == 1 ? ones[h] : 0;
                }
            }
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                unsigned mask = permute(winner[i] << p, 0, 0x9988);
#pragma unroll
                for (int h = 0; h < kHalves; ++h) {
                    b[h][i] = dy1[h][i] & mask;
                }
            }
            multiply(found[0], a, b, 0);
            multiply(found[1], a, b, 1);
        }

        // the gradients of conv2's filters, from two rows
        unsigned a[2][kHalves][4];
#pragma unroll
        for (int row = 0; row < 2; ++row) {
            int pixel = (rows + row + 1) * kPaddedColumns + 1 + lane % 8 + lane / 16 * 8;
            load_tiles_transposed<kGradientPlane>(a[row], dc2 + pixel * kStride + filters +
                                                              lane / 8 % 2 * 8);
        }
        constexpr int kLines = 2 / kBackTiles; // rows of pool1 whose factors are loaded at once
#pragma unroll
        for (int i = 0; i < 4; i += kLines) {
#pragma unroll
            for (int column = 0; column < 3; ++column) {
                unsigned b[kHalves][4];
                int line = rows + i + (kLines == 2 ? lane / 16 : 0);
                int pixel = line * kPaddedColumns + column + lane % 16;
                load_tiles_transposed<kPoolPlane>(b, pool + pool_place(pixel, part));
#pragma unroll
                for (int row = 0; row < 2; ++row) {
#pragma unroll
                    for (int k = 0; k < 2; ++k) { // of the line's 16 channels, or of two lines
                        int tap = i + k / kBackTiles - row;
                        if (tap >= 0 && tap < 3) {
                            multiply(sum[tap * 3 + column][k % kBackTiles], a[row], b, k);
                        }
                    }
                }
            }
        }
        __syncthreads(); // all of the image has been used
    }

#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
        totals[(warp / 2 * kOwn + i) * kOwnStride + threadIdx.x % kGroup] =
            sum[i / (kBackTiles * 4)][i / 4 % kBackTiles][i % 4];
    }
#pragma unroll
    for (int i = 0; i < kTapSums; ++i) {
        tap_sums[(warp * kTapSums + i) * kWarpSize + lane] = found[i / 4][i % 4];
    }
    __syncthreads();
    float unscale = 1.0f / (gradient_scale(N) * kPixelScale);
    float *part_sums = dconv2 + (blockIdx.x * gridDim.y + blockIdx.y) * kOwn * kGroup;
    for (int i = threadIdx.x; i < kOwn * kGroup; i += kThreads) {
        float total = 0.0f;
#pragma unroll
        for (int g = 0; g < kRowGroups; ++g) {
            total += totals[(g * kOwn + i / kGroup) * kOwnStride + i % kGroup];
        }
        part_sums[i] = total * unscale;
    }
    if (threadIdx.x < kFilters1 * (kTaps + 1)) {
        int channel = threadIdx.x / (kTaps + 1);
        int t = threadIdx.x % (kTaps + 1);
        int i = channel / 8 * 4 + t / 8 * 2 + channel % 2; // the lane's sum, and the lane
        int from = i * kWarpSize + t % 8 * 4 + channel % 8 / 2;
        float total = 0.0f;
#pragma unroll
        for (int w = 0; w < kWarps; ++w) {
            total += tap_sums[w * kTapSums * kWarpSize + from];
        }
        int block = blockIdx.x * gridDim.y + blockIdx.y;
        sums1[threadIdx.x * gridDim.x * gridDim.y + block] = total * unscale;
    }
}
