// The second block of layers: batch norm, ReLU and max pool of conv2's results.

#pragma once

#include "batch.cuh"
#include "reduce.cuh"

// Combine `count` means and squared distances, each of as many pixels, into the statistics of
// channels first...first + kChannels - 1: with scale and shift a result is normalised. A warp takes
// a channel; a barrier comes after. One block of a channel also stores mean, 1 / deviation, scale,
// shift and variance in scale2, [5][32].
template <int kThreads, int kChannels>
__device__ inline void find_statistics2(float (&scale)[kChannels], float (&shift)[kChannels],
                                        const float *means, const float *squares,
                                        const float *gamma2, const float *beta2, float *scale2,
                                        int first, int count, int N)
{
    constexpr int kWarps = kThreads / kWarpSize;
    int lane = threadIdx.x % kWarpSize;
    float pixels = N * kPixels1 / count;
    for (int k = threadIdx.x / kWarpSize; k < kChannels; k += kWarps) { // a warp takes a channel
        int f = first + k;
        float sum = 0.0f;
        for (int i = lane; i < count; i += kWarpSize) {
            sum += means[f * count + i];
        }
        float mean = warp_sum(sum) / count;
        float spread = 0.0f;
        for (int i = lane; i < count; i += kWarpSize) {
            float distance = means[f * count + i] - mean;
            spread += squares[f * count + i] + pixels * (distance * distance);
        }
        float variance = warp_sum(spread) / (pixels * count);
        float rstd = 1.0f / sqrtf(variance + kEps);
        if (lane == 0) {
            scale[k] = gamma2[f] * rstd;
            shift[k] = fmaf(-mean, scale[k], beta2[f]);
            if (blockIdx.x == 0) {
                float values[] = {mean, rstd, scale[k], shift[k], variance};
                for (int i = 0; i < 5; ++i) {
                    scale2[i * kFilters2 + f] = values[i];
                }
            }
        }
    }
}

// The pooled pixel `pixel` of channel f, normalised and through ReLU; stores its c2 in best2, and
// in code2 which of the four that was.
__device__ inline float pooled2(const float *c2, float *best2, unsigned char *code2, float scale,
                                float shift, int image, int f, int pixel)
{
    int corner = (image * kFilters2 + f) * kPixels1;
    corner += pixel / kSide2 * 2 * kSide1 + pixel % kSide2 * 2;
    float2 up = *reinterpret_cast<const float2 *>(c2 + corner);
    float2 down = *reinterpret_cast<const float2 *>(c2 + corner + kSide1);
    float window[] = {up.x, up.y, down.x, down.y};
    float best = window[0];
    int winner = 0;
    float largest = fmaf(best, scale, shift);
#pragma unroll
    for (int p = 1; p < 4; ++p) {
        float value = fmaf(window[p], scale, shift);
        bool larger = value > largest;
        winner = larger ? p : winner;
        best = larger ? window[p] : best;
        largest = larger ? value : largest;
    }
    int at = image * kInputs3 + f * kPixels2 + pixel;
    best2[at] = best;
    code2[at] = winner;
    return largest <= 0.0f ? 0.0f : largest;
}
