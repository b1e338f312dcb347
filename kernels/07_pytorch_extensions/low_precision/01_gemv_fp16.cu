// y = W x for a row-major fp16 matrix W of M x K and x in fp16; y and all sums in fp32. M is a
// multiple of 8, K of 8 and at most 8 * THREADS; W and x begin at multiples of 16 bytes. `rows`, a
// multiple of 8, is how many rows a block takes; there are no `scales`.
// The streams of row_stream.cuh, with eight numbers in a piece: two bytes for each product.
// Limit: memory bandwidth.
// grid (ceil(M / rows)), block (THREADS), dynamic shared as stream_bytes in the cases says

#include "row_stream.cuh"

struct HalfPiece {
    static constexpr int kColumns = 8;
    static constexpr bool kScaled = false;
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
        const unsigned pairs[4] = {piece.x, piece.y, piece.z, piece.w};
        float sum = 0.0f;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            float2 two = __half22float2(as_halves(pairs[i]));
            sum = fmaf(two.y, x[2 * i + 1], fmaf(two.x, x[2 * i], sum));
        }
        return sum;
    }
};

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    gemv_fp16(const void *W, const __half *scales, const __half *x, float *y, int M, int K,
              int rows)
{
    stream_rows<HalfPiece>(W, scales, x, y, M, K, rows);
}
