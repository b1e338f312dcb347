// The online softmax whose weights have room to grow, on scores as wgmma leaves them.
//
// Any offset of a row's exponents cancels out in the end, as long as no weight overflows. So the
// offset need not follow the largest score at once: here the first weights are at most 2^-kRoom,
// and as long as all exponents stay negative, nothing that was summed has to be scaled. Whether
// they do is one bit, the sign of all of them. fp32 and bf16 are as exact there as around 1.

#pragma once

#include "hopper_attention.cuh"

constexpr float kRoom = 8.0f;

// Of two rows.
struct RoomySoftmax {
    float to_log2;                                    // scale times log2 e: weights are powers of 2
    float offset[2] = {-CUDART_INF_F, -CUDART_INF_F}; // taken from the exponents of each row
    float sum[2] = {0.0f, 0.0f};                      // of the thread's own weights so far
    float rescale[2];                                 // of all that was summed before

    // Makes exponents of the first scores, or of masked ones, and an offset of the largest score.
    template <int kCount>
    __device__ void first_exponents(float (&s)[kCount])
    {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const float before = offset[half];
            offset[half] = fmaxf(before, largest(s, half) * to_log2 + kRoom);
            const float used = offset[half] == -CUDART_INF_F ? 0.0f : offset[half]; // all masked
            scale_down(half, before - used);
#pragma unroll
            for (int i = half * 2; i < kCount; i += 4) {
                s[i] = s[i] * to_log2 - used;
                s[i + 1] = s[i + 1] * to_log2 - used;
            }
        }
    }

    // Makes exponents of scores. True where one in the warp was not negative: then the row's offset
    // has grown, and what was summed has to be brought up to date.
    template <int kCount>
    __device__ bool exponents(float (&s)[kCount])
    {
        int signs = -1; // negative as long as all exponents are
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
            s[i] = s[i] * to_log2 - offset[i / 2 % 2];
            signs &= __float_as_int(s[i]);
        }
        if (!__any_sync(kWholeWarp, signs >= 0)) {
            return false;
        }
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const float most = largest(s, half), growth = most < 0.0f ? 0.0f : most + kRoom;
            offset[half] += growth;
            scale_down(half, -growth);
#pragma unroll
            for (int i = half * 2; i < kCount; i += 4) {
                s[i] -= growth;
                s[i + 1] -= growth;
            }
        }
        return true;
    }

    // Makes weights of exponents.
    template <int kCount>
    __device__ void weights(float (&s)[kCount])
    {
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
            s[i] = exp2_approx(s[i]);
            sum[i / 2 % 2] += s[i];
        }
    }

    __device__ void bring_up_to_date(float (&o)[D / 2]) const
    {
#pragma unroll
        for (int i = 0; i < D / 2; ++i) {
            o[i] *= rescale[i / 2 % 2];
        }
    }

    // Divides by the sums of whole rows, and stores the log of the sum of exponentials for the rows
    // below `end`; `row` is the row of half 0.
    __device__ void finish(float (&o)[D / 2], float *lse, int row, int end)
    {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            float all = sum[half];
            all += __shfl_xor_sync(kWholeWarp, all, 1);
            all += __shfl_xor_sync(kWholeWarp, all, 2);
            rescale[half] = 1.0f / all;
            if (threadIdx.x % 4 == 0 && row + half * 8 < end) {
                lse[row + half * 8] = (offset[half] + log2f(all)) / kLog2E;
            }
        }
        bring_up_to_date(o);
    }

private:
    template <int kCount>
    __device__ static float largest(const float (&s)[kCount], int half)
    {
        float most = -CUDART_INF_F;
#pragma unroll
        for (int i = half * 2; i < kCount; i += 4) {
            most = fmaxf(most, fmaxf(s[i], s[i + 1]));
        }
        most = fmaxf(most, __shfl_xor_sync(kWholeWarp, most, 1)); // four threads have a row
        return fmaxf(most, __shfl_xor_sync(kWholeWarp, most, 2));
    }

    __device__ void scale_down(int half, float exponent)
    {
        rescale[half] = exp2_approx(exponent);
        sum[half] *= rescale[half];
    }
};
