// y = W x for W in 4 bits: nibble - 8 times the scale of its group of 128 columns, eight nibbles to
// a word, the first in the lowest bits; scales in fp16, K / 128 x M. x in fp16, y and all sums in
// fp32. M is a multiple of 8, K of 128 and at most 32 * THREADS; W, scales and x begin at multiples
// of 16 bytes. `rows`, a multiple of 8, is how many rows a block takes.
// Adds to gemv_fp16.cu: a quarter of the bytes. Each nibble is shifted, masked and converted.
// Limit: instructions, most of them for unpacking.
// grid (ceil(M / rows)), block (THREADS), dynamic shared as stream_bytes in the cases says

#include "row_stream.cuh"

struct ConvertedPiece {
    static constexpr int kColumns = 32;
    static constexpr bool kScaled = true;
    float x[kColumns];

    __device__ void load(const __half *from)
    {
        __half halves[kColumns];
        load_halves(halves, from);
#pragma unroll
        for (int i = 0; i < kColumns; ++i) {
            x[i] = __half2float(halves[i]);
        }
    }

    __device__ float dot(uint4 piece) const
    {
        const unsigned words[4] = {piece.x, piece.y, piece.z, piece.w};
        float sum = 0.0f;
#pragma unroll
        for (int i = 0; i < kColumns; ++i) {
            int nibble = words[i / 8] >> 4 * (i % 8) & 15;
            sum = fmaf(float(nibble - 8), x[i], sum);
        }
        return sum;
    }
};

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    gemv_int4_converted(const void *W, const __half *scales, const __half *x, float *y, int M,
                        int K, int rows)
{
    stream_rows<ConvertedPiece>(W, scales, x, y, M, K, rows);
}
