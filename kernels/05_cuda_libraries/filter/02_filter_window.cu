// y = x * h as filter_direct computes it, with the same arguments.
// Adds to filter_direct: a block keeps its part of x and the filter in shared memory, and a thread
// makes 16 results side by side from a window of 20 numbers in registers. Four taps and four new
// numbers, two wide loads, serve 64 products. Numbers beyond x arrive as zeros of cp.async.
// Limit: with many taps the products; with few, each number's way through shared memory.
// grid (ceil(out_columns / (16 BX)), ceil(out_rows / BY)), block (BX, BY), dynamic shared 4 ((BY + R - 1) pitch + R S4)
// with S4 = S rounded up to 4, and pitch = 20 (BX + ceil(S4 / 16) + 1)

#include "ptx.cuh"

#ifndef BX
#define BX 8
#endif
#ifndef BY
#define BY 32
#endif

constexpr int kHeld = 16;          // results a thread
constexpr int kWindow = kHeld + 4; // numbers in registers
constexpr int kThreads = BX * BY;

// Four floats of padding after 16, so that threads 16 floats apart load from different banks.
__device__ constexpr int padded(int i)
{
    return i + i / 16 * 4;
}

extern "C" __global__ void __launch_bounds__(kThreads)
    filter_window(const float *x, const float *h, float *y, int rows, int columns, int R, int S,
                  int top, int left, int out_rows, int out_columns)
{
    extern __shared__ float4 shared[];
    const int S4 = (S + 3) / 4 * 4;
    const int width = kHeld * BX + S4; // of the block's part of x
    const int pitch = 20 * (BX + (S4 + 15) / 16 + 1);
    float *tile = reinterpret_cast<float *>(shared), *taps = tile + (BY + R - 1) * pitch;
    const int thread = threadIdx.y * BX + threadIdx.x;
    const int first_row = blockIdx.y * BY, first_column = blockIdx.x * kHeld * BX;

    for (int i = thread; i < R * S4; i += kThreads) { // backwards, and zeros behind them
        const int r = i / S4, s = i % S4;
        taps[i] = s < S ? h[(R - 1 - r) * S + S - 1 - s] : 0.0f;
    }
    for (int row = threadIdx.y; row < BY + R - 1; row += BY) { // many copies are in flight at once
        const int from_row = first_row + row + top - (R - 1);
        for (int column = threadIdx.x; column < width; column += BX) {
            const int from = first_column + column + left - (S - 1);
            const bool there = from_row >= 0 && from_row < rows && from >= 0 && from < columns;
            cp_async_4(shared_address(tile + row * pitch + padded(column)),
                       there ? x + (size_t)from_row * columns + from : x, there);
        }
    }
    cp_async_commit();
    cp_async_wait<0>();
    __syncthreads();

    float sums[kHeld] = {};
    for (int r = 0; r < R; ++r) {
        const float *from = tile + (threadIdx.y + r) * pitch + 20 * threadIdx.x;
        float window[kWindow];
#pragma unroll
        for (int q = 0; q < kHeld; q += 4) {
            *reinterpret_cast<float4 *>(window + q) = *reinterpret_cast<const float4 *>(from + q);
        }
        for (int s = 0; s < S4; s += kWindow) {
#pragma unroll
            for (int turn = 0; turn < kWindow; turn += 4) { // the window's start goes round
                if (s + turn < S4) {
                    const float4 next =
                        *reinterpret_cast<const float4 *>(from + padded(kHeld + s + turn));
                    const float4 four = *reinterpret_cast<const float4 *>(taps + r * S4 + s + turn);
                    const float *tap = &four.x;
                    *reinterpret_cast<float4 *>(window + (kHeld + turn) % kWindow) = next;
#pragma unroll
                    for (int j = 0; j < 4; ++j) {
#pragma unroll
                        for (int i = 0; i < kHeld; ++i) {
                            sums[i] += tap[j] * window[(i + j + turn) % kWindow];
                        }
                    }
                }
            }
        }
    }

    __syncthreads(); // the tile has been read: the results take its place, to leave side by side
#pragma unroll
    for (int q = 0; q < kHeld; q += 4) {
        *reinterpret_cast<float4 *>(tile + threadIdx.y * pitch + 20 * threadIdx.x + q) =
            make_float4(sums[q], sums[q + 1], sums[q + 2], sums[q + 3]);
    }
    __syncthreads();
    for (int i = thread; i < BY * kHeld * BX; i += kThreads) {
        const int row = i / (kHeld * BX), column = i % (kHeld * BX);
        if (first_row + row < out_rows && first_column + column < out_columns) {
            y[(size_t)(first_row + row) * out_columns + first_column + column] =
                tile[row * pitch + padded(column)];
        }
    }
}
