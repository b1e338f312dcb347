// The transforms of batch rows of 2 POINTS real numbers, POINTS = R0 R1 R2: the POINTS + 1 complex
// results that decide the rest, since out[2 POINTS - k] is out[k] conjugated.
// Adds to fft_batched: real input. Pairs of numbers are taken for complex ones and transformed;
// each two results that belong together are taken apart again, before they are written.
// Limit: memory, nearly: 0.90 of a copy's rate on an H200, at half the bytes of complex rows.
// grid (batch), block (POINTS / 16), dynamic shared POINTS / 16 * 17 * 8

#include "fft_block.cuh"

#ifndef R0
#define R0 16
#endif
#ifndef R1
#define R1 8
#endif
#ifndef R2
#define R2 16
#endif
#define POINTS (R0 * R1 * R2)

constexpr int kHeld = 16; // complex points a thread
using Fft = BlockFft<POINTS, kHeld>;

extern "C" __global__ void __launch_bounds__(Fft::kThreads)
    fft_real(const float2 *in, float2 *out)
{
    extern __shared__ float2 shared[];
    int t = threadIdx.x;
    in += (size_t)blockIdx.x * POINTS + t;
    out += (size_t)blockIdx.x * (POINTS + 1);
    float2 v[kHeld];
#pragma unroll
    for (int m = 0; m < kHeld; ++m) {
        v[m] = in[m * Fft::kThreads];
    }
    Fft::run<R0, R1, R2>(v, t, shared);
    Fft::sync();
#pragma unroll
    for (int m = 0; m < kHeld; ++m) {
        int k = t + m * Fft::kThreads;
        shared[k + k / 16] = v[m];
    }
    Fft::sync();
#pragma unroll
    for (int m = 0; m < kHeld; ++m) {
        int k = t + m * Fft::kThreads, other = (POINTS - k) % POINTS;
        float2 a = v[m], b = shared[other + other / 16];
        float2 even = make_float2(0.5f * (a.x + b.x), 0.5f * (a.y - b.y)); // of in[0], in[2]...
        float2 odd = make_float2(0.5f * (a.y + b.y), 0.5f * (b.x - a.x));  // of in[1], in[3]...
        out[k] = even + odd * root_fast(k, 2 * POINTS);
        if (k == 0) {
            out[POINTS] = even - odd;
        }
    }
}
