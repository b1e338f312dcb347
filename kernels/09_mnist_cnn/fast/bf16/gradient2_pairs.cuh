// dc2 of an image in bf16, pixel by pixel with the 32 filters side by side.

#pragma once

#include "../backward2.cuh"
#include "mma_conv.cuh"

// By all threads, into padded pixels; a thread takes a window of two filters.
template <int kThreads>
__device__ inline void load_gradient2_pairs(Bf16 *pixels, const Backward2 &of_batch,
                                            const float *c2, const float *dy2,
                                            const unsigned char *code2, int image)
{
#pragma unroll 2
    for (int i = threadIdx.x; i < kInputs3 / 2; i += kThreads) {
        int f = i / kPixels2 * 2;
        int window = i % kPixels2;
        float low[4];
        float high[4];
        gradient2(low, of_batch, c2, dy2, code2, image, f * kPixels2 + window);
        gradient2(high, of_batch, c2, dy2, code2, image, (f + 1) * kPixels2 + window);
        int row = window / kSide2 * 2 + 1;
        int column = window % kSide2 * 2 + 1;
#pragma unroll
        for (int p = 0; p < 4; ++p) {
            int place = (row + p / 2) * kPaddedColumns + column + p % 2;
            *reinterpret_cast<unsigned *>(pixels + place * kStride32 + f) = packed(low[p], high[p]);
        }
    }
}
