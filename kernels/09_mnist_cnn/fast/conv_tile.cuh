// A 3 x 3 convolution of 14 x 14 pixels from shared memory into registers.

#pragma once

#include "batch.cuh"

// kCount neighbours from shared memory, 16 or 8 bytes at a time.
template <int kCount>
__device__ inline void load_neighbours(float (&values)[kCount], const float *from)
{
    if constexpr (kCount % 4 == 0) {
#pragma unroll
        for (int i = 0; i < kCount; i += 4) {
            float4 four = *reinterpret_cast<const float4 *>(from + i);
            values[i] = four.x;
            values[i + 1] = four.y;
            values[i + 2] = four.z;
            values[i + 3] = four.w;
        }
    } else {
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
            values[i] = from[i];
        }
    }
}

// sum[k][o][i] += the nine products of pixel i in row o and the weights of result k. `pixels`
// points at the pixel up and to the left of the first; the weights of a tap lie kStride after those
// of the tap before.
template <int kStride, int kResults, int kRows, int kColumns>
__device__ inline void convolve(float (&sum)[kResults][kRows][kColumns], const float *pixels,
                                const float *weights)
{
    float row[kRows][kColumns + 2]; // those under a row of taps
#pragma unroll
    for (int r = 0; r < 3; ++r) {
#pragma unroll
        for (int o = 0; o < kRows; ++o) {
#pragma unroll
            for (int i = 0; i < kColumns + 2; ++i) {
                bool seen = r > 0 && o + 1 < kRows;
                row[o][i] = seen ? row[o + 1][i] : pixels[(r + o) * kRowStride + i];
            }
        }
#pragma unroll
        for (int s = 0; s < 3; ++s) {
            float weight[kResults];
            load_neighbours(weight, weights + (r * 3 + s) * kStride);
#pragma unroll
            for (int k = 0; k < kResults; ++k) {
#pragma unroll
                for (int o = 0; o < kRows; ++o) {
#pragma unroll
                    for (int i = 0; i < kColumns; ++i) {
                        sum[k][o][i] += weight[k] * row[o][i + s];
                    }
                }
            }
        }
    }
}

// A block's tile: kPixels pixels of kResults results, in kSplits groups of threads that add up over
// other channels. A thread has kRows x 7 pixels of 4 results.
template <int kPixels, int kResults, int kRows, int kSplits>
struct ConvTile {
    static constexpr int kColumns = 7;
    static constexpr int kOwnResults = 4;
    static constexpr int kRuns = kPixels / (kRows * kColumns);
    static constexpr int kOfSplit = kRuns * kResults / kOwnResults; // threads
    static constexpr int kThreads = kOfSplit * kSplits;

    float sum[kOwnResults][kRows][kColumns];
    int split, first, row, column; // of the thread: its first result, and its first pixel

    __device__ ConvTile()
    {
        int run = threadIdx.x % kRuns;
        split = threadIdx.x / kOfSplit;
        first = threadIdx.x % kOfSplit / kRuns * kOwnResults;
        row = run / 2 * kRows;
        column = run % 2 * kColumns;
    }

    // All sums over kChannels channels: planes with zeros around them, of which `pixels` is the
    // first one's pixel up and to the left of the block's first, and weights[channel][tap][result].
    template <int kChannels, int kStride>
    __device__ void add(const float *pixels, const float *weights)
    {
#pragma unroll
        for (int i = 0; i < kOwnResults * kRows * kColumns; ++i) {
            sum[i / (kRows * kColumns)][i / kColumns % kRows][i % kColumns] = 0.0f;
        }
        pixels += row * kRowStride + column;
        weights += first;
#pragma unroll 1
        for (int c = split; c < kChannels; c += kSplits) {
            convolve<kStride>(sum, pixels + c * kPlane, weights + c * kTaps * kStride);
        }
    }

    // Bring the sums into results[result][pixel], one group of threads after the other; ends with a
    // barrier.
    __device__ void stage(float *results) const
    {
        for (int turn = 0; turn < kSplits; ++turn) {
            if (split == turn) {
#pragma unroll
                for (int k = 0; k < kOwnResults; ++k) {
#pragma unroll
                    for (int i = 0; i < kRows * kColumns; ++i) {
                        int pixel = (row + i / kColumns) * kSide1 + column + i % kColumns;
                        float *to = results + (first + k) * kPixels + pixel;
                        float own = sum[k][i / kColumns][i % kColumns];
                        *to = turn == 0 ? own : *to + own;
                    }
                }
            }
            __syncthreads();
        }
    }
};
