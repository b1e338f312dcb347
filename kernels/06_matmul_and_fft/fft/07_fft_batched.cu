// The transforms of batch rows of POINTS = R0 R1 R2 complex points; INVERSE 1 is the inverse, times
// POINTS. HELD points a thread, a multiple of each radix; TRANSFORMS rows a block.
// Adds to fft_twiddles: any power of two up to 16384, with radices to suit it, and several rows a
// block where a row is short. At 256 and 4096 points it is as fast as fft_twiddles was.
// Limit: memory up to 4096 points; from 8192 points on few blocks share a multiprocessor.
// grid (ceil(batch / TRANSFORMS)), block (POINTS / HELD * TRANSFORMS), dynamic shared POINTS / 16 * 17 * 8 * TRANSFORMS

#include "fft_block.cuh"

#ifndef R0
#define R0 16
#endif
#ifndef R1
#define R1 16
#endif
#ifndef R2
#define R2 16
#endif
#ifndef HELD
#define HELD 16
#endif
#ifndef TRANSFORMS
#define TRANSFORMS 1
#endif
#ifndef BLOCKS
#define BLOCKS 1 // that share a multiprocessor: caps the registers
#endif
#ifndef INVERSE
#define INVERSE 0
#endif
#define POINTS (R0 * R1 * R2)

using Fft = BlockFft<POINTS, HELD>;

// The inverse is the transform with real and imaginary parts swapped, before and after.
__device__ inline float2 oriented(float2 a)
{
    return INVERSE ? make_float2(a.y, a.x) : a;
}

extern "C" __global__ void __launch_bounds__(Fft::kThreads *TRANSFORMS, BLOCKS)
    fft_batched(const float2 *in, float2 *out, int batch)
{
    extern __shared__ float2 shared[];
    int t = threadIdx.x % Fft::kThreads;
    int which = threadIdx.x / Fft::kThreads; // of the block's rows
    int row = blockIdx.x * TRANSFORMS + which;
    bool valid = row < batch; // the last block's rows that do not exist go along, for the barriers
    float2 v[HELD] = {};
    in += (size_t)row * POINTS + t;
    out += (size_t)row * POINTS + t;
    if (valid) {
#pragma unroll
        for (int m = 0; m < HELD; ++m) {
            v[m] = oriented(in[m * Fft::kThreads]);
        }
    }
    Fft::run<R0, R1, R2>(v, t, shared + which * Fft::kShared);
    if (valid) {
#pragma unroll
        for (int m = 0; m < HELD; ++m) {
            out[m * Fft::kThreads] = oriented(v[m]);
        }
    }
}
