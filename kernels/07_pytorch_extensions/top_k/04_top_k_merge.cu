// The k largest of `parts` lists of `each` elements with their indices, for each row: what
// top_k_stream.cu found in the parts of a row, where part p begins at index p * length. Order and
// ties as in top_k_rounds.cu. k is at most parts * each and 2 * THREADS.
// Adds to top_k_stream.cu: several blocks work on a row, each on a part, and a second launch
// merges.
// Limit: the two launches, one after the other.
// grid (rows), block (THREADS), dynamic shared 0

#include "top_k.cuh"

#ifndef THREADS
#define THREADS 128
#endif
#ifndef SORTED
#define SORTED 1
#endif

constexpr int kOwn = 4; // candidates for which a thread has room

extern "C" __global__ void __launch_bounds__(THREADS)
    top_k_merge(const float *of_parts, const long long *indices_of_parts, float *values,
                long long *indices, int parts, int each, int length, int k)
{
    __shared__ Room room;
    __shared__ Pair kept[kOwn * THREADS];
    clear<THREADS>(room);
    __syncthreads(); // the room is clear
    int n = parts * each;
    long long begin = (long long)blockIdx.x * n;
    Pair bound = 0;
    for (int start = 0; start < n; start += THREADS) { // whole warps
        int i = start + threadIdx.x;
        Pair pair = 0;
        if (i < n) {
            int index = i / each * length + int(indices_of_parts[begin + i]);
            pair = pair_of(of_parts[begin + i], index);
        }
        bool open = i < n;
        while (true) {
            open = !add(open && pair >= bound, pair, kept, kOwn * THREADS, &room.count);
            if (!__syncthreads_or(open)) {
                break;
            }
            bound = make_room<THREADS, kOwn>(kept, k, room);
        }
    }
    long long first = (long long)blockIdx.x * k;
    store_largest<THREADS, kOwn, SORTED>(kept, k, values + first, indices + first, room);
}
