// The source of conv1's statistics: the sums S_t of the batch's pixels under each of its nine
// taps t, and G_ts of their products. Mean and variance of any filter's result are w S / M and
// w G w / M - mean^2, so batch norm needs no pass over conv1's results.

#pragma once

#include "batch.cuh"
#include "reduce.cuh"

constexpr int kPaddedSide = kSide + 2;
constexpr int kLags = 3;        // rows between two taps
constexpr int kLagSums = 9 + 3; // of a row: products of three columns with three, and the columns
constexpr int kMomentThreads = 256;
constexpr int kImagesAtOnce = kMomentThreads / (kLags * kWarpSize);

// Add the images block, block + blocks... of step `step` to its moments, by kMomentThreads threads.
// A warp takes a lag, a lane a row of the image with zeros around: its products with the row below
// by that lag serve all taps at that distance, but for rows that a tap does not reach.
__device__ inline void add_moments(const unsigned char *images, const int *order, int step,
                                   long long *moments, int block, int blocks, int N)
{
    __shared__ float x[kImagesAtOnce][kImageFloats];
    __shared__ float of_rows[kImagesAtOnce][kLags][kPaddedSide][kLagSums];
    constexpr int kThreads = kLags * kWarpSize; // of an image
    int own = threadIdx.x / kThreads;
    int thread = threadIdx.x % kThreads;
    int lag = thread / kWarpSize;
    int row = thread % kWarpSize;
    bool working = own < kImagesAtOnce && row + lag < kPaddedSide;
    float found[kLagSums] = {};

    for (int i = threadIdx.x; i < kImagesAtOnce * kImageFloats; i += kMomentThreads) {
        x[0][i] = 0.0f;
    }
    for (int first = block; first < N; first += blocks * kImagesAtOnce) {
        int image = first + own * blocks;
        __syncthreads(); // the images before have been used
        if (own < kImagesAtOnce && image < N) {
            load_image<kThreads>(images, image_number(order, step, N, image), x[own], thread);
        }
        __syncthreads();
        if (working && image < N) {
            const float *upper = x[own] + row * kImageStride;
            const float *lower = upper + lag * kImageStride;
            float a[3] = {0.0f, upper[0], upper[1]};
            float b[3] = {0.0f, lower[0], lower[1]};
#pragma unroll 4
            for (int column = 0; column < kSide; ++column) {
                a[0] = a[1];
                a[1] = a[2];
                a[2] = upper[column + 2];
                b[0] = b[1];
                b[1] = b[2];
                b[2] = lower[column + 2];
#pragma unroll
                for (int i = 0; i < 9; ++i) {
                    found[i] += a[i / 3] * b[i % 3];
                }
#pragma unroll
                for (int i = 0; i < 3; ++i) {
                    found[9 + i] += a[i];
                }
            }
        }
    }
    if (working) {
#pragma unroll
        for (int i = 0; i < kLagSums; ++i) {
            of_rows[own][lag][row][i] = found[i];
        }
    }
    __syncthreads();
    if (threadIdx.x < kMoments) {
        int s = threadIdx.x / kTaps; // the two taps, or kTaps and the only one
        int t = threadIdx.x % kTaps;
        bool alone = s == kTaps;
        int upper = alone ? t : min(s, t);
        int lower = alone ? t : max(s, t);
        int lag = lower / 3 - upper / 3;
        int which = alone ? 9 + t % 3 : upper % 3 * 3 + lower % 3;
        double total = 0.0;
        for (int i = 0; i < kImagesAtOnce; ++i) {
            for (int r = 0; r < kSide; ++r) {
                total += of_rows[i][lag][upper / 3 + r][which];
            }
        }
        long long whole = __double2ll_rn(total * kMomentUnit);
        atomicAdd((unsigned long long *)moments + moments_of(step) + threadIdx.x,
                  (unsigned long long)whole);
    }
}
