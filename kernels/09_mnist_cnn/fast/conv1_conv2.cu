// conv1 -> batch norm -> ReLU -> max pool -> conv2 of the batch, on tensor cores. conv1's results
// are never stored: its statistics are known before (input_moments.cuh), so a block takes an image
// from its bytes to the pooled channels in shared memory, and convolves those from there. Each of
// PARTS blocks of an image computes as many of conv2's filters.
// Writes, for the backward pass, pool1 as factors, [N][half] of padded pixels (pool_place), whose
// borders are zero before, code1, [N][4][196], the winner of each window (0x80 >> 0...3, or 0 where
// ReLU let nothing through), of four channels in a word, c2, [N][2][196][16], of c2 each window's
// largest, or smallest where batch norm's gamma is negative, best2, [N][32][49], and its place
// among the four, code2, [N][2][49][4], of four filters in a word, and for each filter and block
// the mean of its c2 and the squared distances from it. A warp computes a row of seven windows, 14
// x 2 pixels, of 32 / PARTS filters. The four pixels of a window are in the same thread.
// grid (any, PARTS), block 224, dynamic shared as fast_network.py says

#include "bulk.cuh"
#include "early_launch.cuh"
#include "prepared.cuh"
#include "reduce.cuh"

constexpr int kThreads = 224;
constexpr int kWarps = kThreads / kWarpSize;
constexpr int kFilters = kFilters2 / PARTS; // of this block
constexpr int kTiles = kFilters / 8;
constexpr int kOwn = kFilters / 4; // filters of a thread, side by side

// The image as pairs of neighbours in a row: word c has pixels c and c + 1. 8 windows and three
// rows are in different banks.
constexpr int kPairStride = 41;
constexpr int kPairWords = ((kSide + 2) * kPairStride + 3) / 4 * 4;

constexpr int kChannels = 24; // elements from pixel to pixel of pool1
constexpr int kNearPlane = kPaddedPixels * kChannels;

#if BF16
typedef unsigned Result2; // two neighbouring filters of c2
#else
typedef float2 Result2;
#endif

__device__ inline Result2 result2(float first, float second)
{
#if BF16
    unsigned words[1];
    split(words, first, second);
    return words[0];
#else
    return make_float2(first, second);
#endif
}

// Where channels 8 part...8 part + 7 of a pixel of pool1 are in this block. They change places
// after 8 columns, so that those of 8 windows are in different banks.
__device__ inline int near_place(int row, int column, int part)
{
    return (row * kPaddedColumns + column) * kChannels + (part ^ (column / 8 & 1)) * 8;
}

// The pixels of an image that a thread loads: four, and the one after.
struct Pixels {
    uchar4 four;
    unsigned char after;
};

__device__ inline Pixels fetch(const unsigned char *images, int number)
{
    Pixels pixels = {};
    int i = threadIdx.x * 4;
    if (i < kPixels) {
        const unsigned char *image = images + (size_t)number * kPixels;
        pixels.four = *reinterpret_cast<const uchar4 *>(image + i);
        pixels.after = image[min(i + 4, kPixels - 1)];
    }
    return pixels;
}

__device__ inline float normalised(unsigned char pixel)
{
    constexpr float kScale = 1.0f / (255.0f * 0.3081f);
    constexpr float kShift = -0.1307f / 0.3081f;
    return fmaf(pixel, kScale, kShift) * kPixelScale;
}

__device__ inline void store_pairs(unsigned *pairs, const Pixels &pixels)
{
    int i = threadIdx.x * 4;
    if (i >= kPixels) {
        return;
    }
    int column = i % kSide;
    float value[6]; // with a zero on either side of the image
    value[0] = 0.0f;
    value[1] = normalised(pixels.four.x);
    value[2] = normalised(pixels.four.y);
    value[3] = normalised(pixels.four.z);
    value[4] = normalised(pixels.four.w);
    value[5] = column + 4 < kSide ? normalised(pixels.after) : 0.0f;
    unsigned *to = pairs + (i / kSide + 1) * kPairStride + column;
#pragma unroll
    for (int k = 0; k < 5; ++k) {
        unsigned words[kHalves];
        split(words, value[k], value[k + 1]);
        if (k > 0 || column == 0) {
#pragma unroll
            for (int h = 0; h < kHalves; ++h) {
                to[h * kPairWords + k] = words[h];
            }
        }
    }
}

extern "C" __global__ void __launch_bounds__(kThreads, 2)
    conv1_conv2(const unsigned char *images, const int *order, int *clock, const long long *moments,
                const float *conv1, const float *gamma1, const float *beta1, const Half *forward2,
                const float *gamma2, Half *pool1, unsigned *code1, Result2 *c2, float *best2,
                unsigned *code2, float *means, float *squares, int N)
{
    extern __shared__ float4 shared4[];
    Half *weights = reinterpret_cast<Half *>(shared4); // [half][tap][filter][channel]
    Half *pool = weights + kHalves * kForwardPlane;    // [half][pixel][channel]
    unsigned *pairs = reinterpret_cast<unsigned *>(pool + kHalves * kNearPlane);
    __shared__ Statistics1 of_batch;
    __shared__ unsigned long long full;        // the barrier of the copy of the weights
    __shared__ float direction[kFilters];      // which of a window's results wins
    __shared__ float pivots[kWarps][kFilters]; // a result each: from it sums lose no digits
    __shared__ float of_warp[2][kWarps][kFilters];

    int step = clock[0];
    int lane = threadIdx.x % kWarpSize;
    int warp = threadIdx.x / kWarpSize;
    int group = lane / 4; // rows and columns of an mma's tiles that a lane has
    int pair = lane % 4;
    int first_filter = blockIdx.y * kFilters;
    int number = image_number(order, step, N, blockIdx.x);

    unsigned barrier = shared_address(&full);
    if (threadIdx.x == 0) {
        mbarrier_init(barrier, 1);
        mbarriers_are_ready();
    }
    uint4 *zeros = reinterpret_cast<uint4 *>(pool);
    constexpr int kZeros = (kHalves * kNearPlane * 2 + kHalves * kPairWords * 4) / 16;
    for (int i = threadIdx.x; i < kZeros; i += kThreads) {
        zeros[i] = make_uint4(0, 0, 0, 0);
    }
    Pixels pixels = fetch(images, number);
    wait_for_the_one_before();
    let_the_next_begin();
    if (blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0) {
        clock[1] = step;
    }
    if (threadIdx.x == 0) {
        constexpr int kBytes = kHalves * kForwardPlane * sizeof(Half);
        mbarrier_expect(barrier, kBytes);
        bulk_load(weights, forward2 + blockIdx.y * kHalves * kForwardPlane, kBytes, barrier);
    }
    // all that is loaded here is under way at the same time
    Share1 share = load_share1(moments, step, conv1, 0, kFilters1);
    int filter1 = group / 2 * 4 + group % 2; // of the lane's columns of b, and two further
    float gamma_of_b[] = {gamma1[filter1], gamma1[filter1 + 2]};
    float4 four_gammas = reinterpret_cast<const float4 *>(gamma1)[pair];
    float4 four_betas = reinterpret_cast<const float4 *>(beta1)[pair];
    float gamma = gamma2[first_filter + threadIdx.x % kFilters];
    find_statistics1(of_batch, share, N, 0, kFilters1); // ends with a barrier
    if (threadIdx.x < kFilters) {
        direction[threadIdx.x] = gamma > 0.0f ? 1.0f : gamma < 0.0f ? -1.0f : 0.0f;
    }

    // conv1: k is six pairs of taps, two neighbours of each row and then its third with a zero; b
    // has batch norm in it. Column 2 q + r of tile j is filter 4 q + 2 j + r.
    unsigned b1[kHalves][4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        int filter = filter1 + i / 2 * 2;
        int place = pair + i % 2 * 4;
        float scale = gamma_of_b[i / 2] * of_batch.rstd[filter] * kWeightScale;
        int tap = place % 3 * 3 + place / 3 * 2;
        float first = place < 6 ? scale * of_batch.taps[filter][tap] : 0.0f;
        float second = place < 3 ? scale * of_batch.taps[filter][tap + 1] : 0.0f;
        unsigned words[kHalves];
        split(words, first, second);
#pragma unroll
        for (int h = 0; h < kHalves; ++h) {
            b1[h][i] = words[h];
        }
    }
    float gammas[] = {four_gammas.x, four_gammas.y, four_gammas.z, four_gammas.w};
    float betas[] = {four_betas.x, four_betas.y, four_betas.z, four_betas.w};
    float shift[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        int filter = pair * 4 + i;
        float scale = gammas[i] * of_batch.rstd[filter];
        shift[i] = fmaf(-of_batch.mean[filter], scale, betas[i]);
        shift[i] *= kPixelScale * kWeightScale;
    }
    int place1 = pair % 3 * kPairStride + pair / 3 * 2; // the words of a lane, of k from 0 and
    int place2 = (pair + 1) % 3 * kPairStride + 2;      // from 8: words without taps there count 0

    float total[kOwn] = {};
    float squared[kOwn] = {};
    int seen = 0; // results of a filter
    for (int image = blockIdx.x; image < N; image += gridDim.x) {
        store_pairs(pairs, pixels);
        __syncthreads();
#pragma unroll 1
        for (int i = warp; i < kSide1 * 2; i += kWarps) { // eight windows of a row, or six
            int row = i / 2;
            int column = i % 2 * 8 + group;
            float value[2][2][4]; // [upper, lower][tile]
#pragma unroll
            for (int k = 0; k < 2; ++k) {
                const unsigned *corner = pairs + (row * 2 + k) * kPairStride + column * 2;
                unsigned a[kHalves][4];
#pragma unroll
                for (int h = 0; h < kHalves; ++h) {
                    a[h][0] = corner[h * kPairWords + place1];
                    a[h][1] = corner[h * kPairWords + place1 + 1];
                    a[h][2] = corner[h * kPairWords + place2];
                    a[h][3] = corner[h * kPairWords + place2 + 1];
                }
#pragma unroll
                for (int tile = 0; tile < 2; ++tile) {
#pragma unroll
                    for (int j = 0; j < 4; ++j) {
                        value[k][tile][j] = shift[tile * 2 + j % 2];
                    }
                    multiply(value[k][tile], a, b1, tile);
                }
            }
            float best[4];
            unsigned codes = 0;
#pragma unroll
            for (int j = 0; j < 4; ++j) { // neighbouring filters
                best[j] = value[0][j / 2][j % 2];
                unsigned code = 0x80;
#pragma unroll
                for (int p = 1; p < 4; ++p) {
                    float other = value[p / 2][j / 2][j % 2 + p % 2 * 2];
                    code = other > best[j] ? 0x80 >> p : code;
                    best[j] = other > best[j] ? other : best[j];
                }
                bool closed = best[j] <= 0.0f;
                code = closed ? 0 : code;
                best[j] = closed ? 0.0f : best[j] * (1.0f / kWeightScale);
                codes |= code << (8 * j);
            }
            unsigned low[kHalves];
            unsigned high[kHalves];
            split(low, best[0], best[1]);
            split(high, best[2], best[3]);
            if (column < kSide1) {
                Half *near = pool + near_place(row + 1, column + 1, pair / 2) + pair % 2 * 4;
                int padded = (row + 1) * kPaddedColumns + column + 1;
                Half *far = pool1 + (size_t)image * kHalves * kPoolPlane +
                            pool_place(padded, pair / 2) + pair % 2 * 4;
#pragma unroll
                for (int h = 0; h < kHalves; ++h) {
                    uint2 two = make_uint2(low[h], high[h]);
                    *reinterpret_cast<uint2 *>(near + h * kNearPlane) = two;
                    if (blockIdx.y == 0) {
                        *reinterpret_cast<uint2 *>(far + h * kPoolPlane) = two;
                    }
                }
                if (blockIdx.y == 0) {
                    code1[(image * kFilters1 / 4 + pair) * kPixels1 + row * kSide1 + column] =
                        codes;
                }
            }
        }
        int next = image + gridDim.x;
        if (next < N) {
            pixels = fetch(images, image_number(order, step, N, next));
        }
        mbarrier_wait(barrier, 0);
        __syncthreads();

        float sum[2][kTiles][4] = {}; // [upper, lower]: left and right, of two filters each
#pragma unroll
        for (int t = 0; t < kTaps; ++t) {
            unsigned a[2][kHalves][4];
#pragma unroll
            for (int k = 0; k < 2; ++k) {
                int column = lane % 8 * 2 + lane / 8 % 2 + t % 3;
                int place = near_place(warp * 2 + k + t / 3, column, lane / 16);
                load_tiles<kNearPlane>(a[k], pool + place);
            }
#pragma unroll
            for (int j = 0; j < kTiles; j += 2) {
                unsigned b[kHalves][4];
                int row = j * 8 + lane / 16 * 8 + lane % 8;
                const Half *from =
                    weights + t * kForwardTap + row * kForwardStride + lane / 8 % 2 * 8;
                load_tiles<kForwardPlane>(b, from);
#pragma unroll
                for (int k = 0; k < 4; ++k) {
                    multiply(sum[k / 2][j + k % 2], a[k / 2], b, k % 2);
                }
            }
        }

        constexpr float kUnscale = 1.0f / (kPixelScale * kWeightScale);
        bool window = group < kSide2; // the eighth of a row is none
        if (seen == 0 && group == 0) {
#pragma unroll
            for (int i = 0; i < kOwn; ++i) {
                pivots[warp][pair * kOwn + i] = sum[0][i / 2][i % 2] * kUnscale;
            }
        }
        __syncwarp();
        unsigned codes[kOwn / 4] = {};
#pragma unroll
        for (int i = 0; i < kOwn; ++i) {
            float best = 0.0f;
            int code = 0;
            float sign = direction[pair * kOwn + i];
            float pivot = pivots[warp][pair * kOwn + i];
#pragma unroll
            for (int p = 0; p < 4; ++p) {
                float &value = sum[p / 2][i / 2][i % 2 + p % 2 * 2];
                value *= kUnscale;
                float distance = value - pivot;
                total[i] += distance;
                squared[i] += distance * distance;
                bool better = p == 0 || (value - best) * sign > 0.0f;
                code = better ? p : code;
                best = better ? value : best;
            }
            codes[i / 4] |= (unsigned)code << (i % 4 * 8);
            if (window) {
                int f = first_filter + pair * kOwn + i;
                best2[image * kInputs3 + f * kPixels2 + warp * kSide2 + group] = best;
            }
        }
        if (window) {
            int f = first_filter + pair * kOwn; // in its sixteen filters
            int sixteen = image * kFilters2 / 16 + f / 16;
            int at = (sixteen * kPixels2 + warp * kSide2 + group) * 4 + f % 16 / 4;
#pragma unroll
            for (int i = 0; i < kOwn / 4; ++i) {
                code2[at + i] = codes[i];
            }
#pragma unroll
            for (int p = 0; p < 4; ++p) {
                int pixel = (warp * 2 + p / 2) * kSide1 + group * 2 + p % 2;
                Result2 *row = c2 + (sixteen * kPixels1 + pixel) * 8 + f % 16 / 2;
#pragma unroll
                for (int i = 0; i < kOwn; i += 2) {
                    const float *two = sum[p / 2][i / 2] + p % 2 * 2;
                    row[i / 2] = result2(two[0], two[1]);
                }
            }
        }
        seen += 4;
    }

    // a filter's mean and squared distances from it, of a thread, and from there of the warp
    float mean[kOwn];
    float spread[kOwn];
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
        float middle = total[i] * (1.0f / seen);
        float distances = squared[i] - total[i] * middle;
        middle += pivots[warp][pair * kOwn + i];
        float count = seen;
        bool window = group < kSide2;
        mean[i] = window ? middle : 0.0f;
#pragma unroll
        for (int distance = 4; distance < kWarpSize; distance *= 2) {
            mean[i] += __shfl_xor_sync(kWholeWarp, mean[i], distance);
        }
        mean[i] *= 1.0f / kSide2;
        middle -= mean[i];
        spread[i] = window ? distances + count * (middle * middle) : 0.0f;
#pragma unroll
        for (int distance = 4; distance < kWarpSize; distance *= 2) {
            spread[i] += __shfl_xor_sync(kWholeWarp, spread[i], distance);
        }
    }
    if (group == 0) {
#pragma unroll
        for (int i = 0; i < kOwn; ++i) {
            of_warp[0][warp][pair * kOwn + i] = mean[i];
            of_warp[1][warp][pair * kOwn + i] = spread[i];
        }
    }
    __syncthreads();
    if (threadIdx.x < kFilters) {
        float middle = 0.0f;
#pragma unroll
        for (int w = 0; w < kWarps; ++w) {
            middle += of_warp[0][w][threadIdx.x] * (1.0f / kWarps);
        }
        float distances = 0.0f;
#pragma unroll
        for (int w = 0; w < kWarps; ++w) {
            float distance = of_warp[0][w][threadIdx.x] - middle;
            distances += of_warp[1][w][threadIdx.x] + distance * distance * (kSide2 * seen);
        }
        int f = first_filter + threadIdx.x;
        means[f * gridDim.x + blockIdx.x] = middle;
        squares[f * gridDim.x + blockIdx.x] = distances;
    }
}
