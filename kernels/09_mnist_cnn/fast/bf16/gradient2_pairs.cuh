// dc2 of an image in bf16, pixel by pixel with the 32 filters side by side.

#pragma once

#include "../backward2.cuh"
#include "mma_conv.cuh"

// Of kFilters filters from `filter` and kRows rows of windows from `row`, into padded pixels, by
// all threads; a thread takes a window of two filters.
template <int kThreads, int kFilters, int kRows>
__device__ inline void
load_gradient2_pairs(Bf16 *pixels, const Backward2 &of_batch, const float *c2, const float *dy2,
                     const unsigned char *code2, int image, int filter, int row)
{
    constexpr int kWindows = kRows * kSide2;
#pragma unroll 4
    for (int i = threadIdx.x; i < kFilters / 2 * kWindows; i += kThreads) {
        int f = filter + i / kWindows * 2;
        int window = row * kSide2 + i % kWindows;
        float low[4];
        float high[4];
        gradient2(low, of_batch, c2, dy2, code2, image, f * kPixels2 + window);
        gradient2(high, of_batch, c2, dy2, code2, image, (f + 1) * kPixels2 + window);
#pragma unroll
        for (int p = 0; p < 4; ++p) {
            int place = (window / kSide2 * 2 + 1 + p / 2) * kPaddedColumns;
            place += window % kSide2 * 2 + 1 + p % 2;
            *reinterpret_cast<unsigned *>(pixels + place * kStride32 + f) = packed(low[p], high[p]);
        }
    }
}
