// Thirty-two columns of x in bytes, and their product with as many nibbles.

#pragma once

#include "row_stream.cuh"

// Four products of unsigned bytes of a and signed ones of b, added to sum: dp4a of PTX.
__device__ inline int products_of_bytes(unsigned a, int b, int sum)
{
    asm("dp4a.u32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));
    return sum;
}

struct BytePiece {
    static constexpr int kColumns = 32;
    static constexpr bool kScaled = true;
    int even[4], odd[4]; // of each eight columns 0, 2, 4, 6 and 1, 3, 5, 7
    int begin;           // -8 times the sum of all
    float scale;         // of x: the worth of one step

    __device__ void load(const __half *from)
    {
        __half x[kColumns];
        load_halves(x, from);
        float largest = 0.0f;
#pragma unroll
        for (int i = 0; i < kColumns; ++i) {
            largest = fmaxf(largest, fabsf(__half2float(x[i])));
        }
        scale = largest / 127.0f;
        float steps = largest > 0.0f ? 127.0f / largest : 0.0f; // of 1
        begin = 0;
#pragma unroll
        for (int word = 0; word < 4; ++word) {
            even[word] = odd[word] = 0;
#pragma unroll
            for (int i = 0; i < 8; ++i) {
                int q = __float2int_rn(__half2float(x[8 * word + i]) * steps);
                (i % 2 ? odd : even)[word] |= (q & 255) << 8 * (i / 2);
                begin -= 8 * q;
            }
        }
    }

    __device__ float dot(uint4 piece) const
    {
        const unsigned words[4] = {piece.x, piece.y, piece.z, piece.w};
        int sum = begin, sixteenfold = 0;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            sum = products_of_bytes(words[i] & 0x0f0f0f0f, even[i], sum);
            sixteenfold = products_of_bytes(words[i] & 0xf0f0f0f0, odd[i], sixteenfold);
        }
        return float(sum + (sixteenfold >> 4)) * scale;
    }
};
