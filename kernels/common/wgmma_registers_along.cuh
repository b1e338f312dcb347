// wgmma with its first factor in registers and the rows of the second along K, as TMA leaves keys.
// sm_90a only.

#pragma once

#include "wgmma_across.cuh"

// wgmma.mma_async: sum = a b^T, plus sum where `add` is not 0; a is 64 x 16 in registers, as
// wgmma_registers takes it, b N x 16 by a descriptor of wgmma_tile.
#define WGMMA_REGISTERS_ALONG(count, shape, a0, a1, a2, a3, b_number, add_number)             \
    __device__ inline void wgmma_registers_along(float (&sum)[count], const unsigned *a,      \
                                                 unsigned long long b, int add)               \
    {                                                                                         \
        asm volatile(                                                                         \
            "{\n"                                                                             \
            ".reg .pred add;\n"                                                               \
            "setp.ne.b32 add, %" #add_number ", 0;\n"                                         \
            "wgmma.mma_async.sync.aligned." shape "k16.f32.bf16.bf16 {" WGMMA_NUMBERS_##count \
            "}, {%" #a0 ", %" #a1 ", %" #a2 ", %" #a3 "}, %" #b_number ", add, 1, 1, 0;\n"    \
            "}"                                                                               \
            : WGMMA_##count("+f", 0)                                                          \
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));                  \
    }
WGMMA_REGISTERS_ALONG(16, "m64n32", 16, 17, 18, 19, 20, 21)
WGMMA_REGISTERS_ALONG(32, "m64n64", 32, 33, 34, 35, 36, 37)
WGMMA_REGISTERS_ALONG(64, "m64n128", 64, 65, 66, 67, 68, 69)
