// Products of a warpgroup beyond those of wgmma.cuh: the first factor in registers, and factors
// that are in shared memory the other way round, along M or N. One PTX instruction each. sm_90a
// only.

#pragma once

#include "wgmma.cuh"

// Matrix Descriptor Format, for a factor whose rows in shared memory run along M or N and follow
// each other along K: 64 columns of M or N are rows of 128 bytes, as TMA leaves them with its
// swizzle of 128 bytes, and the next 64 columns are another box, `next_box` bytes on. For the next
// 16 rows along K add 128: 16 times 128 bytes.
__device__ inline unsigned long long wgmma_tile_across(unsigned address, unsigned next_box)
{
    return wgmma_tile(address) | (unsigned long long)(next_box >> 4) << 16;
}

// wgmma.mma_async: sum = a b, plus sum where `add` is not 0; a is 64 x 16 in registers, b 16 x N by
// a descriptor of wgmma_tile_across. A thread holds of a the elements that it would hold of 16
// columns of sums: those of the two rows next to each other, two in a register.
#define WGMMA_REGISTERS(count, shape, a0, a1, a2, a3, b_number, add_number)                   \
    __device__ inline void wgmma_registers(float (&sum)[count], const unsigned *a,            \
                                           unsigned long long b, int add)                     \
    {                                                                                         \
        asm volatile(                                                                         \
            "{\n"                                                                             \
            ".reg .pred add;\n"                                                               \
            "setp.ne.b32 add, %" #add_number ", 0;\n"                                         \
            "wgmma.mma_async.sync.aligned." shape "k16.f32.bf16.bf16 {" WGMMA_NUMBERS_##count \
            "}, {%" #a0 ", %" #a1 ", %" #a2 ", %" #a3 "}, %" #b_number ", add, 1, 1, 1;\n"    \
            "}"                                                                               \
            : WGMMA_##count("+f", 0)                                                          \
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));                  \
    }
WGMMA_REGISTERS(32, "m64n64", 32, 33, 34, 35, 36, 37)
WGMMA_REGISTERS(64, "m64n128", 64, 65, 66, 67, 68, 69)

// wgmma.mma_async: sum = a b with both factors by descriptors of wgmma_tile_across: of a the rows
// in shared memory are columns.
WGMMA(wgmma_across, float, "+f", 16, "m64n32k16.f32.bf16.bf16", 16, 17, 18, ", 1, 1, 1, 1")
WGMMA(wgmma_across, float, "+f", 32, "m64n64k16.f32.bf16.bf16", 32, 33, 34, ", 1, 1, 1, 1")
