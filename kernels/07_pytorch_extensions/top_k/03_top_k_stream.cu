// The k largest elements of each row of x, rows x columns of fp32, and their indices, the largest
// first if SORTED; order and ties as in top_k_rounds.cu. k is at most columns and 2 * THREADS.
// Adds to top_k_radix.cu: one reading. The largest of each thread's first elements give a bound
// that k elements reach; whatever is below is dropped as it comes. Radix select only sees the few
// candidates left, in shared memory, and again whenever they get too many, which raises the bound.
// GROUPS * THREADS should be a few times k. Copies of later elements are always under way.
// Limit: with a row for each SM, the instructions of the loop and memory bandwidth; latency where
// rows are short.
// grid (rows), block (THREADS), dynamic shared (16 * STAGES + 8 * OWN) * THREADS

#include "top_k_stream.cuh"

#ifndef THREADS
#define THREADS 1024
#endif
#ifndef GROUPS
#define GROUPS 1 // of the elements that a thread looks at for the first bound
#endif
#ifndef SORTED
#define SORTED 1
#endif

extern "C" __global__ void __launch_bounds__(THREADS)
    top_k_stream(const float *x, float *values, long long *indices, int columns, int k)
{
    extern __shared__ float4 ring[]; // [kStages][THREADS], then the candidates
    Pair *kept = reinterpret_cast<Pair *>(ring + kStages * THREADS);
    __shared__ Room room;
    clear<THREADS>(room);
    const float *row = x + (long long)blockIdx.x * columns;
    stream<THREADS, GROUPS>(row, columns, 0, k, ring, kept, room);
    long long first = (long long)blockIdx.x * k;
    store_largest<THREADS, kOwn, SORTED>(kept, k, values + first, indices + first, room);
}
