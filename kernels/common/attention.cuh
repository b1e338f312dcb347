// For attention on tensor cores, beside ptx.cuh: a few more wrappers, one PTX instruction each, and
// the positions of a tile's elements in shared memory.

#pragma once

#include "ptx.cuh"

constexpr float kLog2E = 1.4426950408889634f; // e^x = 2^(x log2 e): ex2 is the instruction there is

// ldmatrix.x4.trans: as ldmatrix_4, of the transposed tiles: elements (2 (l % 4), l / 4) and the
// one below.
__device__ inline void ldmatrix_4_transposed(unsigned (&tiles)[4], unsigned row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(tiles[0]), "=r"(tiles[1]), "=r"(tiles[2]), "=r"(tiles[3])
                 : "r"(row)
                 : "memory");
}

// cp.async.mbarrier.arrive.noinc: one arrival of this thread, once all its cp.async so far are
// done.
__device__ inline void cp_async_arrive(unsigned barrier)
{
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}

// ex2.approx: 2^x, with a relative error below 2^-22, and 0 for minus infinity.
__device__ inline float exp2_approx(float x)
{
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
    return power;
}

// cvt.bf16x2: two numbers rounded to bf16 in one register, the first in the lower half.
__device__ inline unsigned bf16_pair(float first, float second)
{
    unsigned bits;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(second), "f"(first));
    return bits;
}

// Where the 16 bytes of chunk `chunk` of row `row` of a tile begin, in bytes. Rows of kRowBytes, a
// multiple of 128; the XOR puts the same chunk of eight rows into eight groups of banks.
template <int kRowBytes>
__device__ inline unsigned swizzled(int row, int chunk)
{
    return row * kRowBytes + (chunk ^ (row & 7)) * 16;
}
