// Multiply-adds in vector registers, `iterations` x CHAINS of them, nothing else: a core's peak.
// The chains are independent, so the next FMA need not wait for the one before.
// Returns the number of floating-point operations that were done.
// Build: cc -O3 -march=native -shared -fPIC fma_peak.c -o fma_peak.so

#include "simd.h"

// Enough for every unit to start an FMA in each cycle (4 units x 4 cycles on many arm64 cores),
// and no more than there are registers (16 with AVX, 32 on arm64).
#ifndef CHAINS
#ifdef __aarch64__
#define CHAINS 16
#else
#define CHAINS 12
#endif
#endif

double fma_peak(float *result, long iterations)
{
    const vec factor = load(result) + 0.5f;
    vec sum[CHAINS];
    for (int chain = 0; chain < CHAINS; ++chain) {
        sum[chain] = load(result) + (float)chain;
    }
    for (long i = 0; i < iterations; ++i) {
        for (int chain = 0; chain < CHAINS; ++chain) {
            sum[chain] = sum[chain] * factor + factor;
        }
    }
    for (int chain = 1; chain < CHAINS; ++chain) {
        sum[0] += sum[chain];
    }
    store(result, sum[0]); // without a use of the sums the compiler would drop the loop
    return 2.0 * CHAINS * LANES * (double)iterations;
}
