// The weights of conv2 and linear3 as factors, laid out as the kernels that multiply by them keep
// them in shared memory: each block takes its share in one copy.

#pragma once

#include "factors.cuh"

#ifndef PARTS
#define PARTS 1
#endif
#ifndef BACK_PARTS
#define BACK_PARTS 1
#endif

// conv1_conv2.cu: [part][half][tap][row][channel], of each part's filters. A thread's filters are
// side by side: column 2 q + r of an mma's tile j is filter kOwnForward q + 2 j + r.
constexpr int kForwardFilters = kFilters2 / PARTS;
constexpr int kOwnForward = kForwardFilters / 4;
constexpr int kForwardStride = 24; // eight rows begin in different banks
constexpr int kForwardTap = kForwardFilters * kForwardStride + 8;
constexpr int kForwardPlane = kTaps * kForwardTap;

// conv2_backward.cu: [part][half][turned tap][channel][filter].
constexpr int kBackFilters = kFilters2 / BACK_PARTS;
constexpr int kBackStride = kBackFilters + 8;
constexpr int kBackPlane = kTaps * kFilters1 * kBackStride;

// conv2_backward.cu adds up the gradients of conv2's weights [part][tap][sum of a lane][thread], as
// its mma leave them: which weight's is number i? Two warps share the work: they have 16 filters
// each, and all channels, or 8 channels each.
constexpr int kBackTiles = 2 / BACK_PARTS; // of 8 channels, of a warp

__device__ inline int weight_of_sum(int i)
{
    constexpr int kThreads = 64; // of both warps
    constexpr int kOfPart = kBackFilters * kFilters1 * kTaps;
    int thread = i % kOfPart % kThreads;
    int sum = i % kOfPart / kThreads;
    int lane = thread % 32;
    int f = i / kOfPart * kBackFilters + sum % 4 / 2 * 8 + lane / 4;
    int channel = lane % 4 * 2 + sum % 2;
    if (kBackTiles == 2) {
        f += thread / 32 * 16;
        channel += sum / 4 % 2 * 8;
    } else {
        channel += thread / 32 * 8;
    }
    return (f * kFilters1 + channel) * kTaps + sum / (4 * kBackTiles);
}

// linear_layers.cu: [block][half][hidden][column], with zeros up to a multiple of 16 columns.
constexpr int kBlocks3 = 8;                   // of a cluster
constexpr int kColumns3 = kInputs3 / kBlocks3; // of a block
constexpr int kStride3 = (kColumns3 + 15) / 16 * 16 + 8;
constexpr int kPlane3 = kHidden * kStride3;

// Write weight i of conv2's 32 x 16 x 9 into both.
__device__ inline void prepare_conv2(Half *forward, Half *turned, int i, float weight)
{
    int f = i / (kFilters1 * kTaps);
    int channel = i / kTaps % kFilters1;
    int tap = i % kTaps;
    int own = f % kForwardFilters;
    int row = own % kOwnForward / 2 * 8 + own / kOwnForward * 2 + own % 2;
    forward += f / kForwardFilters * kHalves * kForwardPlane;
    forward += tap * kForwardTap + row * kForwardStride + channel;
    turned += f / kBackFilters * kHalves * kBackPlane;
    turned += ((kTaps - 1 - tap) * kFilters1 + channel) * kBackStride + f % kBackFilters;
    unsigned words[kHalves];
    split(words, weight * kWeightScale, 0.0f);
#pragma unroll
    for (int h = 0; h < kHalves; ++h) {
        forward[h * kForwardPlane] = (Half)words[h];
        turned[h * kBackPlane] = (Half)words[h];
    }
}

// linear_layers.cu adds up the gradients of linear3's weights [block][tile][thread], as its mma
// leave them, four at a time: where is the weight of the first of those from number 4 i? (Its
// column is kInputs3 where there is none.) The second's is the next; the other two's are kFarRow
// rows further. A warp has 16 rows, and 14 tiles of 8 columns.
constexpr int kTiles3 = 14;
constexpr int kThreads3 = 512;
constexpr int kFours3 = 8 * kTiles3 * kThreads3;
constexpr int kFarRow = 8;

__device__ inline void weight_of_sum3(int i, int &row, int &column)
{
    int thread = i % kThreads3;
    int tile = thread / 256 * kTiles3 + i / kThreads3 % kTiles3;
    int own = tile * 8 + thread % 4 * 2;
    row = thread / 32 % 8 * 16 + thread % 32 / 4;
    column = own < kColumns3 ? i / (kThreads3 * kTiles3) * kColumns3 + own : kInputs3;
}

// Write two neighbouring weights of linear3, from an even column.
__device__ inline void prepare_linear3(Half *to, int row, int column, float2 two)
{
    to += column / kColumns3 * kHalves * kPlane3;
    to += row * kStride3 + column % kColumns3;
    unsigned words[kHalves];
    split(words, two.x * kWeightScale, two.y * kWeightScale);
#pragma unroll
    for (int h = 0; h < kHalves; ++h) {
        *reinterpret_cast<unsigned *>(to + h * kPlane3) = words[h];
    }
}
