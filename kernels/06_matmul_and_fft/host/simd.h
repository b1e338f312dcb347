// vec: as many floats as one vector register of this CPU holds, by the flags of the compiler.
// GCC and clang both know vector_size; + and * work on all lanes at once.
#pragma once

#include <string.h>

#if defined(__AVX512F__)
#define VEC_BYTES 64
#elif defined(__AVX__)
#define VEC_BYTES 32
#else // SSE of any x86-64, NEON of any arm64
#define VEC_BYTES 16
#endif

enum { LANES = VEC_BYTES / sizeof(float) };

typedef float vec __attribute__((vector_size(VEC_BYTES)));

static inline vec load(const float *from)
{
    vec v;
    memcpy(&v, from, sizeof v); // becomes one load; the address need not be a multiple of anything
    return v;
}

static inline void store(float *to, vec v)
{
    memcpy(to, &v, sizeof v);
}
