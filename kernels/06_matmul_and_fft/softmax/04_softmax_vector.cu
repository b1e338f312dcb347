// y = softmax of each row of x, rows x columns of fp32: exp(x - largest), divided by the row's sum.
// columns is at most 4 * THREADS * GROUPS; x and y begin at multiples of 16 bytes.
// Adds to softmax_shuffle.cu: the row stays in registers, loaded four at a time, and all loads of a
// thread are in flight before it needs the first.
// Limit: memory bandwidth up to some 8192 columns. For longer rows a multiprocessor holds one block
// or two, and idles while they add up.
// grid (rows), block (THREADS), dynamic shared 0

#include "row_part.cuh"
#include "softmax.cuh"

#ifndef THREADS
#define THREADS 256
#endif
#ifndef GROUPS
#define GROUPS 4 // of four elements that a thread keeps
#endif

extern "C" __global__ void __launch_bounds__(THREADS)
    softmax_vector(const float *x, float *y, int columns)
{
    long long start = (long long)blockIdx.x * columns;
    bool fours = columns % 4 == 0; // then every row begins at a multiple of 16 bytes
    float part[GROUPS][4];
    load_part<THREADS>(part, x + start, columns, fours, __int_as_float(0xff800000));

    ExpSum mine = exponentials(part);
    ExpSum all = block_merged<THREADS>(mine);
    scale_part(part, expf(mine.largest - all.largest) / all.sum);
    store_part<THREADS>(y + start, part, columns, fours);
}
