// A tile of 16 ROWS x 98 sums of products from shared memory into the registers of 224 threads.
// The 98 columns are two channels of 49 pixels.

#pragma once

#include "batch.cuh"

constexpr int kThreads = 224;
constexpr int kTileColumns = 2 * kPixels2;
constexpr int kRun = 7;                              // columns of a thread
constexpr int kColumnGroups = kTileColumns / kRun;   // 14
constexpr int kRowGroups = kThreads / kColumnGroups; // 16

// sum[i][j] += the products of kDepth steps; a is [step][row] with rows kStride apart, b is
// [step][column]. Each of kSplits groups of threads takes every kSplits-th step, of 1 / kSplits as
// many rows.
template <int kDepth, int kStride, int kSplits, int kRows>
__device__ inline void add_products(float (&sum)[kRows][kRun], const float *a, const float *b)
{
    constexpr int kGroup = kThreads / kSplits;
    int first_column = threadIdx.x % kColumnGroups * kRun;
    int first_row = threadIdx.x % kGroup / kColumnGroups * kRows;
#pragma unroll 4
    for (int k = threadIdx.x / kGroup; k < kDepth; k += kSplits) {
        float left[kRows];
        float right[kRun];
#pragma unroll
        for (int i = 0; i < kRows; ++i) {
            left[i] = a[k * kStride + first_row + i];
        }
#pragma unroll
        for (int j = 0; j < kRun; ++j) {
            right[j] = b[k * kTileColumns + first_column + j];
        }
#pragma unroll
        for (int i = 0; i < kRows; ++i) {
#pragma unroll
            for (int j = 0; j < kRun; ++j) {
                sum[i][j] += left[i] * right[j];
            }
        }
    }
}

// Bring the sums of all groups into `tile`, [row][column], so that neighbouring threads can store
// neighbours; ends with a barrier.
template <int kSplits, int kRows>
__device__ inline void stage(const float (&sum)[kRows][kRun], float *tile)
{
    constexpr int kGroup = kThreads / kSplits;
    int first_column = threadIdx.x % kColumnGroups * kRun;
    int first_row = threadIdx.x % kGroup / kColumnGroups * kRows;
    for (int turn = 0; turn < kSplits; ++turn) {
        if ((int)threadIdx.x / kGroup == turn) {
#pragma unroll
            for (int i = 0; i < kRows; ++i) {
#pragma unroll
                for (int j = 0; j < kRun; ++j) {
                    float *to = tile + (first_row + i) * kTileColumns + first_column + j;
                    *to = turn == 0 ? sum[i][j] : *to + sum[i][j];
                }
            }
        }
        __syncthreads();
    }
}
