// y[i] = sum over j < taps of h[j] x[i + taps - 1 - j], for i < n: the valid part of a long signal's
// convolution with a filter, x of n + taps - 1 floats. Instead of h comes its spectrum, of
// POINTS = R0 R1 R2 complex numbers: that of h, turned to the left by taps - 1 places and divided
// by POINTS.
// Overlap-save, in one launch: a block transforms POINTS numbers of x, multiplies by the spectrum,
// transforms back and keeps the `step` <= POINTS - taps + 1 results at the front, which are not
// spoiled by going round. Two such segments are the real and the imaginary part of one transform:
// the filter is real, so they stay apart by themselves.
// Limit: x and y go to memory once, at some three quarters of a copy's rate on an H200; the rest is
// what the transforms between load and store do not hide.
// grid (ceil(n / (2 step))), block (POINTS / HELD), dynamic shared POINTS / 16 * 17 * 8

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
#ifndef HELD
#define HELD 16
#endif
#ifndef BLOCKS
#define BLOCKS 1 // that share a multiprocessor: caps the registers
#endif
#define POINTS (R0 * R1 * R2)

using Fft = BlockFft<POINTS, HELD>;

extern "C" __global__ void __launch_bounds__(Fft::kThreads, BLOCKS)
    filter_fft(const float *x, const float2 *spectrum, float *y, int n, int taps, int step)
{
    extern __shared__ float2 shared[];
    const int t = threadIdx.x;
    const int first = 2 * step * blockIdx.x + t;
    const int end = n + taps - 1; // of x

    float2 v[HELD];
    if (first - t + step + POINTS <= end) { // all but the last blocks: no comparison a number
#pragma unroll
        for (int m = 0; m < HELD; ++m) {
            const int i = first + m * Fft::kThreads;
            v[m] = make_float2(x[i], x[i + step]);
        }
    } else {
#pragma unroll
        for (int m = 0; m < HELD; ++m) {
            const int i = first + m * Fft::kThreads;
            v[m].x = i < end ? x[i] : 0.0f;
            v[m].y = i + step < end ? x[i + step] : 0.0f;
        }
    }
    Fft::run<R0, R1, R2>(v, t, shared);
#pragma unroll
    for (int m = 0; m < HELD; ++m) { // parts exchanged: the next transform is the inverse
        const float2 product = v[m] * spectrum[t + m * Fft::kThreads];
        v[m] = make_float2(product.y, product.x);
    }
    Fft::sync(); // all have read what the first transform exchanged
    Fft::run<R0, R1, R2>(v, t, shared);
#pragma unroll
    for (int m = 0; m < HELD; ++m) {
        const int i = first + m * Fft::kThreads;
        if (t + m * Fft::kThreads < step) {
            if (i < n) {
                y[i] = v[m].y;
            }
            if (i + step < n) {
                y[i + step] = v[m].x;
            }
        }
    }
}
