// y = x * w, a convolution of 3 x 3 in fp32, stride 1, padding 1, of 16 channels: x is N x 16 x H x
// W, w is K x 16 x 3 x 3 and y is N x K x H x W. W is at most 14, K a multiple of 32, w begins at a
// multiple of 16 bytes. Fewer than 2^31 elements a tensor (indices are int), at most 65535 * 32
// filters; denormal numbers count as 0, as they do in all of the course (-ftz=true).
// Adds to conv_winograd_few: tensor cores, with the digits of fp32. A number, times a power of two,
// is the sum of two fp16 halves, high + low / 2048. The rows of a wgmma's first factor are the high
// halves of eight filters, then their low ones; its second factor is pixels' high halves, and then
// their low ones: all four products. So scaled, fp16 loses two bits at most of numbers down to 2^-28
// of the largest. Where smaller ones are among the pixels of a band or the weights of a filter, or one is
// not finite, the block computes the band in fp32.
// Limit: with few images the latency of a read, two barriers and a write; then all that is moved.
// grid (at most N ceil(H / 7), K / 32), block (128), dynamic shared 0

#include <cuda_fp16.h>

#include "ptx.cuh"
#include "tma_store.cuh"
#include "wgmma.cuh"

constexpr int kThreads = 128; // a warpgroup
constexpr int kWarps = kThreads / 32;
constexpr int kBand = 7; // rows of y of a block at a time
constexpr int C = 16;
constexpr int kMostColumns = 14;
constexpr int kFilters = 32;
constexpr int kTaps = 9;
constexpr int kPitch = 16;                                 // pixels of a row, zeros on both sides
constexpr int kPixels = (kBand + 2) * kPitch + 8; // in shared memory; the last taps read 2 beyond
constexpr int kItems = 2 * (kBand + 2) * kMostColumns; // half of a pixel's channels each
constexpr int kEach = (kItems + kThreads - 1) / kThreads;
constexpr int kSums = kBand * kPitch / 2;
constexpr int kWeights = kFilters * C * kTaps;
constexpr float kLow = 2048.0f; // low halves are as many times larger
constexpr float kSmallest = 1.0f / (1 << 14);

// Two numbers as words of high and of low halves.
__device__ inline void split(unsigned &high, unsigned &low, float first, float second)
{
    __half2 upper = __floats2half2_rn(first, second);
    float2 rest = __half22float2(upper);
    __half2 lower = __floats2half2_rn((first - rest.x) * kLow, (second - rest.y) * kLow);
    high = *reinterpret_cast<unsigned *>(&upper);
    low = *reinterpret_cast<unsigned *>(&lower);
}

// How large some numbers are, by their bits: the largest, and the smallest but 0, less 1.
struct Range {
    unsigned largest = 0, smallest = ~0u;

    __device__ void add(float value)
    {
        unsigned bits = __float_as_uint(value) & 0x7fffffff;
        largest = max(largest, bits);
        smallest = min(smallest, bits - 1);
    }

    // Whose product with any of the numbers is below 2^15. Its exponent, biased.
    __device__ int exponent() const { return min(268 - (int)(largest >> 23), 253); }

    // Whether halves hold the numbers, so scaled.
    __device__ bool fits() const
    {
        float scaled = __uint_as_float(smallest + 1) * __uint_as_float(exponent() << 23);
        return largest == 0 || (largest < 0x7f800000 && scaled >= kSmallest);
    }
};

#define WGMMA_56(c, i) WGMMA_32(c, i), WGMMA_16(c, i + 32), WGMMA_8(c, i + 48)
#define WGMMA_NUMBERS_56                                                                           \
    WGMMA_TEN()                                                                                    \
    WGMMA_TEN(1) WGMMA_TEN(2) WGMMA_TEN(3) WGMMA_TEN(4) "%50, %51, %52, %53, %54, %55"

// wgmma.mma_async: sum = a b^T, plus sum; a is 64 x 16 in registers, b 112 x 16 in shared memory
// without a swizzle.
__device__ inline void wgmma_f16(float (&sum)[kSums], const unsigned (&a)[4], unsigned long long b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n112k16.f32.f16.f16 {" WGMMA_NUMBERS_56
                 "}, {%56, %57, %58, %59}, %60, 1, 1, 1, 0;"
                 : WGMMA_56("+f", 0)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

extern "C" __global__ void __launch_bounds__(kThreads, 2)
    conv_split_halves(const float *x, const float *w, float *y, int N, int H, int W, int K)
{
    __shared__ __align__(128) uint4 halves[2][2][kPixels]; // [high, low][k / 8][pixel]
    __shared__ __align__(16) float weights[kWeights];
    __shared__ unsigned largest[kWarps], smallest[kWarps];
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    int lane_f = lane / 4; // the filter of the warp's eight
    int lane_p = lane % 4; // the lane's two columns of eight
    int plane = H * W;
    int per_image = (H + kBand - 1) / kBand;
    int bands = N * per_image;
    int first_filter = blockIdx.y * kFilters;

    // An mma's k runs over the channels in such an order that lane q of four, which has k = 2 q,
    // 2 q + 1, 2 q + 8 and 2 q + 9, has channels 4 q to 4 q + 3: its weights are neighbours in w.
    float in[kEach][8];
    auto load_x = [&](int band) {
        int image = band / per_image;
        int top = band % per_image * kBand - 1;
#pragma unroll
        for (int j = 0; j < kEach; ++j) {
            int item = threadIdx.x + j * kThreads;
            int half = item / (kItems / 2);
            int pixel = item % (kItems / 2);
            int row = top + pixel / kMostColumns;
            int column = pixel % kMostColumns;
            bool exists = band < bands && item < kItems && row >= 0 && row < H && column < W;
            const float *from =
                x + (exists ? (image * C + half * 2) * plane + row * W + column : 0);
#pragma unroll
            for (int i = 0; i < 8; ++i) {
                in[j][i] = exists ? __ldg(from + (i / 2 * 4 + i % 2) * plane) : 0.0f;
            }
        }
    };
    load_x(blockIdx.x);
    const float *from_w = w + first_filter * (C * kTaps);
#pragma unroll
    for (int i = 0; i < kWeights / 4 / kThreads + 1; ++i) {
        int four = threadIdx.x + i * kThreads;
        if (four < kWeights / 4) {
            cp_async_16(shared_address(weights + four * 4), from_w + four * 4);
        }
    }
    cp_async_commit();
    for (int i = threadIdx.x; i < 4 * kPixels; i += kThreads) {
        halves[0][0][i] = make_uint4(0, 0, 0, 0);
    }

    unsigned a[kTaps][4]; // of the filter: high and low halves of k = 2 q and 2 q + 8
    Range of_filter;
    bool first = true;
#pragma unroll 1
    for (int band = blockIdx.x; band < bands; band += gridDim.x) {
        Range of_x;
#pragma unroll
        for (int j = 0; j < kEach; ++j) {
#pragma unroll
            for (int i = 0; i < 8; ++i) {
                of_x.add(in[j][i]);
            }
        }
        unsigned warp_largest = __reduce_max_sync(~0u, of_x.largest);
        unsigned warp_smallest = __reduce_min_sync(~0u, of_x.smallest);
        if (lane == 0) {
            largest[warp] = warp_largest;
            smallest[warp] = warp_smallest;
        }
        cp_async_wait<0>();
        __syncthreads(); // weights and ranges are there, the last band has been read
        if (first) {
            const float4 *mine = reinterpret_cast<const float4 *>(weights) + threadIdx.x * kTaps;
            float four[4 * kTaps]; // channels 4 q...4 q + 3, all taps
#pragma unroll
            for (int i = 0; i < kTaps; ++i) {
                *reinterpret_cast<float4 *>(&four[i * 4]) = mine[i];
            }
#pragma unroll
            for (int i = 0; i < 4 * kTaps; ++i) {
                of_filter.add(four[i]);
            }
#pragma unroll
            for (int distance = 1; distance < 4; distance *= 2) {
                of_filter.largest = max(of_filter.largest,
                                        __shfl_xor_sync(~0u, of_filter.largest, distance));
                of_filter.smallest = min(of_filter.smallest,
                                         __shfl_xor_sync(~0u, of_filter.smallest, distance));
            }
            float scale = __uint_as_float(of_filter.exponent() << 23);
#pragma unroll
            for (int t = 0; t < kTaps; ++t) {
                split(a[t][0], a[t][1], four[t] * scale, four[kTaps + t] * scale);
                split(a[t][2], a[t][3], four[2 * kTaps + t] * scale, four[3 * kTaps + t] * scale);
            }
        }
#pragma unroll
        for (int i = 0; i < kWarps; ++i) {
            of_x.largest = max(of_x.largest, largest[i]);
            of_x.smallest = min(of_x.smallest, smallest[i]);
        }
        float scale = __uint_as_float(of_x.exponent() << 23);
#pragma unroll
        for (int j = 0; j < kEach; ++j) {
            int item = threadIdx.x + j * kThreads;
            int pixel = item % (kItems / 2);
            uint4 high, low;
            split(high.x, low.x, in[j][0] * scale, in[j][1] * scale);
            split(high.y, low.y, in[j][2] * scale, in[j][3] * scale);
            split(high.z, low.z, in[j][4] * scale, in[j][5] * scale);
            split(high.w, low.w, in[j][6] * scale, in[j][7] * scale);
            int at = pixel / kMostColumns * kPitch + pixel % kMostColumns + 1;
            if (item < kItems) {
                halves[0][item / (kItems / 2)][at] = high;
                halves[1][item / (kItems / 2)][at] = low;
            }
        }
        writes_are_ready();
        bool fits = of_x.fits() && of_filter.fits();
        fits = __syncthreads_and(fits); // and the halves are complete
        load_x(band + gridDim.x);

        float high[kSums] = {}, low[kSums] = {}; // of pixels' high halves, and of their low ones
        constexpr unsigned long long kNextEight = 8, kNextK = kPixels; // in 16 bytes
        unsigned long long tile =
            kNextEight << 32 | kNextK << 16 | (shared_address(halves) & 0x3ffff) >> 4;
        keep_in_order(high);
        keep_in_order(low);
        wgmma_fence();
#pragma unroll
        for (int t = 0; t < kTaps; ++t) {
            int at = t / 3 * kPitch + t % 3;
            wgmma_f16(high, a[t], tile + at);
            wgmma_f16(low, a[t], tile + 2 * kPixels + at);
        }
        wgmma_commit();
        wgmma_wait<0>();
        keep_in_order(high);
        keep_in_order(low);
        int image = band / per_image;
        int top = band % per_image * kBand;
        int last = min(kBand, H - top);
        float *to = y + (image * K + first_filter) * plane + top * W; // of the first filter
        if (fits) {
            // 2^-both, in two factors, neither of which is beyond fp32
            int both = 254 - of_x.exponent() - of_filter.exponent();
            float one = __uint_as_float((both / 2 + 127) << 23);
            float other = __uint_as_float((both - both / 2 + 127) << 23);
            float *plane_y = to + (warp * 8 + lane_f) * plane;
#pragma unroll
            for (int i = 0; i < kSums / 4; ++i) {
                float two[2];
#pragma unroll
                for (int k = 0; k < 2; ++k) {
                    float least = low[i * 4 + 2 + k] * (1 / kLow);
                    least = (least + low[i * 4 + k] + high[i * 4 + 2 + k]) * (1 / kLow);
                    two[k] = (high[i * 4 + k] + least) * one * other;
                }
                int row = i / 2;
                int column = i % 2 * 8 + lane_p * 2;
                if (row < last && column < W) {
                    float *at = plane_y + (row * W + column);
                    if (W % 2 == 0) {
                        *reinterpret_cast<float2 *>(at) = make_float2(two[0], two[1]);
                    } else {
                        at[0] = two[0];
                        if (column + 1 < W) {
                            at[1] = two[1];
                        }
                    }
                }
            }
        } else {
#pragma unroll 1
            for (int i = threadIdx.x; i < kFilters * last * W; i += kThreads) {
                int filter = i / (last * W);
                int row = top + i / W % last;
                int column = i % W;
                float sum = 0.0f;
#pragma unroll 1
                for (int k = 0; k < C * kTaps; ++k) {
                    int r = row + k % kTaps / 3 - 1;
                    int c = column + k % 3 - 1;
                    if (r >= 0 && r < H && c >= 0 && c < W) {
                        sum += x[(image * C + k / kTaps) * plane + r * W + c] *
                               from_w[filter * (C * kTaps) + k];
                    }
                }
                to[filter * plane + (row - top) * W + column] = sum;
            }
        }
        first = false;
    }
}
