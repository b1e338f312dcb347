// Numbers of four bits and their scales, by Blackwell's conversions (sm_100a; no GPU of that kind
// has run them yet). Section of the PTX manual: "cvt".

#pragma once

// cvt.rn.satfinite.e2m1x2.f32: two numbers as codes of E2M1 in a byte, `low` in its lower half: to
// the nearest, of two equally near ones the even code, and no further than 6.
__device__ inline unsigned e2m1_pair(float low, float high)
{
    unsigned short byte;
    asm("{\n"
        ".reg .b8 pair;\n"
        "cvt.rn.satfinite.e2m1x2.f32 pair, %1, %2;\n"
        "mov.b16 %0, {pair, 0};\n"
        "}"
        : "=h"(byte)
        : "f"(high), "f"(low));
    return byte;
}

// cvt.rn.satfinite.e4m3x2.f32: the code of E4M3 next to x >= 0, and in `value` the number that it
// encodes. Without its sign bit, which is 0, such a code is one of UE4M3.
__device__ inline unsigned char e4m3_scale(float x, float &value)
{
    unsigned short code;
    unsigned pair; // two halves
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(code) : "f"(0.0f), "f"(x));
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pair) : "h"(code));
    asm("{.reg .b16 low, high; mov.b32 {low, high}, %1; cvt.f32.f16 %0, low;}"
        : "=f"(value)
        : "r"(pair));
    return code;
}
