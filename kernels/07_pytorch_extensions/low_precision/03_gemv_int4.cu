// y = W x for W in 4 bits: nibble - 8 times the scale of its group of 128 columns, eight nibbles to
// a word, the first in the lowest bits; scales in fp16, K / 128 x M. x in fp16, y in fp32. M is a
// multiple of 8, K of 128 and at most 32 * THREADS; W, scales and x begin at multiples of 16 bytes.
// `rows`, a multiple of 8, is how many rows a block takes. Magnitudes of x are below 2000. Adds to
// gemv_int4_converted.cu: no conversion of integers. An fp16 number with the bits 0x6400 + q is
// 1024 + q, or 1024 + 16 q for the nibble beside it; one instruction makes q - 8 of two such. Two
// sums of four products stay in fp16, then go to fp32. Limit: instructions, though a third
// fewer, and memory bandwidth.
// grid (ceil(M / rows)), block (THREADS), dynamic shared as stream_bytes in the cases says

#include "row_stream.cuh"

struct NibblePiece {
    static constexpr int kColumns = 32;
    static constexpr bool kScaled = true;
    __half2 x[16]; // of each eight columns the pairs (0, 4), (1, 5), (2, 6), (3, 7)

    __device__ void load(const __half *from)
    {
        __half halves[kColumns];
        load_halves(halves, from);
#pragma unroll
        for (int i = 0; i < 16; ++i) {
            int column = i / 4 * 8 + i % 4;
            x[i] = __halves2half2(halves[column], halves[column + 4]);
        }
    }

    __device__ float dot(uint4 piece) const
    {
        const unsigned words[4] = {piece.x, piece.y, piece.z, piece.w};
        const __half2 offset = as_halves(0x64086408);    // 1024 + 8
        const __half2 sixteenth = as_halves(0x2c002c00); // 1 / 16
        const __half2 above = as_halves(0xd480d480);     // -(1024 / 16 + 8)
        float sum = 0.0f;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            __half2 part = as_halves(0);
#pragma unroll
            for (int byte = 0; byte < 2; ++byte) { // of each half of the word
                unsigned word = words[i] >> 8 * byte;
                __half2 low = as_halves((word & 0x000f000f) | 0x64006400);
                __half2 high = as_halves((word & 0x00f000f0) | 0x64006400);
                part = __hfma2(__hsub2(low, offset), x[4 * i + 2 * byte], part);
                part = __hfma2(__hfma2(high, sixteenth, above), x[4 * i + 2 * byte + 1], part);
            }
            float2 two = __half22float2(part);
            sum += two.x + two.y;
        }
        return sum;
    }
};

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    gemv_int4(const void *W, const __half *scales, const __half *x, float *y, int M, int K,
              int rows)
{
    stream_rows<NibblePiece>(W, scales, x, y, M, K, rows);
}
