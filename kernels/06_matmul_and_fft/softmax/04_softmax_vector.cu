// y = softmax of each row of x, rows x columns of fp32: exp(x - largest), divided by the row's sum.
// columns is at most 4 * THREADS * GROUPS, less 3 if it is no multiple of 4; x and y begin at
// multiples of 16 bytes.
// Adds to softmax_shuffle.cu: the row stays in registers, loaded four at a time, and all loads of a
// thread are in flight before it needs the first.
// Limit: memory bandwidth. A block of 1024 threads has 64 registers for each, which hold 32 numbers
// and what else it needs: 32,768 columns.
// grid (rows), block (THREADS), dynamic shared 0

#include "row_part.cuh"
#include "softmax.cuh"

#ifndef THREADS
#define THREADS 128
#endif
#ifndef GROUPS
#define GROUPS 8 // of four elements that a thread keeps
#endif

extern "C" __global__ void __launch_bounds__(THREADS)
    softmax_vector(const float *x, float *y, int columns)
{
    const float *row = x + (long long)blockIdx.x * columns;
    int begin = past_aligned(row); // where the row begins, after a multiple of 16 bytes
    int end = begin + columns;
    float part[GROUPS][4];
    load_part<THREADS>(part, row - begin, begin, end, __int_as_float(0xff800000));

    ExpSum mine = exponentials(part, largest_of(part));
    ExpSum all = block_merged<THREADS>(mine);
    scale_part(part, expf(mine.largest - all.largest) / all.sum);
    store_part<THREADS>(y + (row - x) - begin, part, begin, end);
}
