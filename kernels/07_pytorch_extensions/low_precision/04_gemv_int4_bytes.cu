// y = W x for W in 4 bits: nibble - 8 times the scale of its group of 128 columns, eight nibbles to
// a word, the first in the lowest bits; scales in fp16, K / 128 x M. x in fp16, y in fp32. M is a
// multiple of 8, K of 128 and at most 32 * THREADS; W, scales and x begin at multiples of 16 bytes.
// `rows`, a multiple of 8, is how many rows a block takes. Adds to gemv_int4.cu: x in 8 bits too,
// with a scale for each 32 columns, made once by the thread that has them. __dp4a then takes four
// nibbles as they are, and what they are too large by, 8 times the sum of x, is where the sum
// begins. The upper nibbles of the bytes count 16 times. Limit: memory bandwidth, and how long it
// takes to start and to end.
// grid (ceil(M / rows)), block (THREADS), dynamic shared as stream_bytes in the cases says

#include "byte_piece.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    gemv_int4_bytes(const void *W, const __half *scales, const __half *x, float *y, int M, int K,
                    int rows)
{
    stream_rows<BytePiece>(W, scales, x, y, M, K, rows);
}
