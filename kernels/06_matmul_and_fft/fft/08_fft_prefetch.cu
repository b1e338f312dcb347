// The transforms of batch rows of POINTS = R0 R1 R2 complex points, 8192 or 16384: 32 points a
// thread, a multiple of each radix, so that three stages do.
// Adds to fft_batched: a block asks for the row AHEAD rows later, which is another block's. When
// that block begins, its row is on the way to the L2 cache or there: memory has work while blocks
// compute.
// Limit: at 16384 points still one block a multiprocessor, at three quarters of a copy's rate on an
// H200. At 8192, where two share one, the prefetch gains no more than times scatter by.
// grid (batch), block (POINTS / 32), dynamic shared POINTS / 16 * 17 * 8

#include "fft_block.cuh"

#ifndef R0
#define R0 32
#endif
#ifndef R1
#define R1 16
#endif
#ifndef R2
#define R2 32
#endif
#ifndef AHEAD
#define AHEAD 66
#endif
#ifndef BLOCKS
#define BLOCKS 1 // that share a multiprocessor: caps the registers
#endif
#define POINTS (R0 * R1 * R2)

constexpr int kHeld = 32;                    // points a thread
constexpr int kLine = 128 / sizeof(float2); // points of a line of memory
using Fft = BlockFft<POINTS, kHeld>;

// prefetch: bring a line of memory into the L2 cache, and nothing into a register.
__device__ inline void prefetch_line(const void *line)
{
    asm volatile("prefetch.global.L2 [%0];" ::"l"(line));
}

extern "C" __global__ void __launch_bounds__(Fft::kThreads, BLOCKS)
    fft_prefetch(const float2 *in, float2 *out, int batch)
{
    extern __shared__ float2 shared[];
    int t = threadIdx.x;
    int row = blockIdx.x;
    float2 v[kHeld];
#pragma unroll
    for (int m = 0; m < kHeld; ++m) {
        v[m] = in[(size_t)row * POINTS + t + m * Fft::kThreads];
    }
    if (row + AHEAD < batch) {
        const float2 *later = in + (size_t)(row + AHEAD) * POINTS;
        for (int line = t; line < POINTS / kLine; line += Fft::kThreads) {
            prefetch_line(later + line * kLine);
        }
    }
    Fft::run<R0, R1, R2>(v, t, shared);
#pragma unroll
    for (int m = 0; m < kHeld; ++m) {
        out[(size_t)row * POINTS + t + m * Fft::kThreads] = v[m];
    }
}
