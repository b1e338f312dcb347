// The transforms along the columns of batch matrices of ROWS x N complex points, N a multiple of
// 16, ROWS 128 or 256. After fft_batched along the rows it makes the two-dimensional transform.
// Adds to fft_batched: lines across memory. A block takes 16 columns side by side, so that
// it reads and writes whole 128-byte lines.
// Limit: memory. With the rows every point is read and written twice, nearly at a copy's rate.
// grid (batch * N / 16), block (ROWS), dynamic shared 8 * 16 * ROWS

#include "fft_lines.cuh"

#ifndef ROWS
#define ROWS 256
#endif

constexpr int kHeld = 16;  // points a thread
constexpr int kLines = 16; // columns of a block
constexpr int kStep = ROWS / kHeld;

extern "C" __global__ void __launch_bounds__(ROWS, 1024 / ROWS)
    fft_columns(const float2 *in, float2 *out, int N)
{
    extern __shared__ float2 shared[];
    int line = threadIdx.x % kLines, u = threadIdx.x / kLines;
    int blocks_across = N / kLines;
    size_t first = (size_t)(blockIdx.x / blocks_across) * ROWS * N +
                   blockIdx.x % blocks_across * kLines + line; // of the column
    float2 v[kHeld];
#pragma unroll
    for (int m = 0; m < kHeld; ++m) {
        v[m] = in[first + (size_t)(u + kStep * m) * N];
    }
    transform_lines<ROWS, kLines>(v, u, line, shared);
#pragma unroll
    for (int m = 0; m < kHeld; ++m) {
        out[first + (size_t)(u + kStep * m) * N] = v[m];
    }
}
