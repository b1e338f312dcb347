// One stage of the transform of n complex points, batch rows; n a power of RADIX, which is 2, 4, 8,
// 16 or 32.
// Adds to fft_radix2: RADIX points a thread. The stages of radix 2 among these points happen in
// registers, so that log(n) / log(RADIX) launches are left, and as many trips to memory.
// Limit: trips to memory up to radix 8. Radix 16 makes fewer, and is slower on an H200: its trips
// run at less than half of a copy's rate.
// grid (batch, ceil(n / RADIX / 128)), block (128), dynamic shared 0

#include "fft.cuh"

#ifndef RADIX
#define RADIX 16
#endif

extern "C" __global__ void fft_radix(const float2 *in, float2 *out, int n, int done)
{
    in += (size_t)blockIdx.x * n;
    out += (size_t)blockIdx.x * n;
    int j = blockIdx.y * blockDim.x + threadIdx.x; // the butterfly
    if (j >= n / RADIX) {
        return;
    }
    int k = j & (done - 1); // j modulo done: the frequency, in all transforms that meet here
    int first = (j - k) * RADIX + k;
    float2 v[RADIX];
#pragma unroll
    for (int r = 0; r < RADIX; ++r) {
        v[r] = in[j + r * (n / RADIX)] * root(r * k, RADIX * done);
    }
    dft<RADIX>(v);
#pragma unroll
    for (int r = 0; r < RADIX; ++r) {
        out[first + r * done] = v[r];
    }
}
