// The k largest elements of each row of x, rows x columns of fp32, and their indices, the largest
// first; order and ties as in top_k_rounds.cu. columns is at most 32 * EACH, k at most 32 * GROUPS.
// Adds to top_k_stream.cu: a row for a warp, in its registers. With no barrier and no histogram:
// the limit is halved in, by counts over the warp, until k elements reach it and no more than the
// lanes have places for, GROUPS each. Then every lane counts how many candidates are larger than
// its own.
// Limit: memory bandwidth for few elements, the instructions that count for many.
// grid (ceil(rows / 8)), block (256), dynamic shared 0

#include "top_k.cuh"

#ifndef EACH
#define EACH 32 // elements of a lane
#endif
#ifndef GROUPS
#define GROUPS 2 // of them, of which the largest are looked at for the first limit; and candidates
#endif

constexpr int kThreads = 256, kWarps = kThreads / kWarpSize;
constexpr int kMost = GROUPS * kWarpSize; // candidates

__device__ int count_from(const unsigned (&own)[EACH], unsigned limit)
{
    int count = 0;
#pragma unroll
    for (int j = 0; j < EACH; ++j) {
        count += own[j] >= limit;
    }
    return __reduce_add_sync(kWholeWarp, count);
}

extern "C" __global__ void __launch_bounds__(kThreads)
    top_k_warp(const float *x, float *values, long long *indices, int rows, int columns, int k)
{
    __shared__ __align__(16) Pair of_warps[kWarps][kMost];
    int lane = threadIdx.x % kWarpSize;
    int row = blockIdx.x * kWarps + threadIdx.x / kWarpSize;
    if (row >= rows) {
        return; // the whole warp
    }
    unsigned own[EACH]; // orders; 0 for none
    unsigned largest[GROUPS] = {};
#pragma unroll
    for (int j = 0; j < EACH; ++j) {
        int i = j * kWarpSize + lane;
        own[j] = i < columns ? order_of(x[(long long)row * columns + i]) : 0;
    }
#pragma unroll
    for (int j = 0; j < EACH; ++j) {
        largest[j % GROUPS] = max(largest[j % GROUPS], own[j]);
    }
    unsigned low = largest[0], high = largest[0];
#pragma unroll
    for (int group = 1; group < GROUPS; ++group) {
        low = min(low, largest[group]);
        high = max(high, largest[group]);
    }
    low = __reduce_min_sync(kWholeWarp, low); // 32 * GROUPS elements reach it, so k do
    high = __reduce_max_sync(kWholeWarp, high);
    int reach = count_from(own, low);
    int beyond = 0; // how many are above high: fewer than k
    while (low < high && reach > kMost) {
        unsigned middle = high - (high - low) / 2; // above low
        int count = count_from(own, middle);
        if (count >= k) {
            low = middle;
            reach = count;
        } else {
            high = middle - 1;
            beyond = count;
        }
    }
    // Where still too many reach it, low is the k-th itself, and the first that equal it are
    // wanted.
    int equal = reach > kMost ? k - beyond : reach;
    Pair *kept = of_warps[threadIdx.x / kWarpSize];
#pragma unroll
    for (int group = 0; group < GROUPS; ++group) {
        kept[group * kWarpSize + lane] = 0; // none
    }
    __syncwarp(); // what is none is there
    unsigned before = (1u << lane) - 1;
    int stored = 0;
#pragma unroll
    for (int j = 0; j < EACH; ++j) {
        unsigned all_same = __ballot_sync(kWholeWarp, own[j] == low);
        bool first = own[j] == low && __popc(all_same & before) < equal;
        unsigned takers = __ballot_sync(kWholeWarp, own[j] > low || first);
        if (takers >> lane & 1) {
            kept[stored + __popc(takers & before)] =
                Pair(own[j]) << 32 | ~unsigned(j * kWarpSize + lane);
        }
        equal -= __popc(all_same);
        stored += __popc(takers);
    }
    __syncwarp(); // the candidates are there
    Pair mine[GROUPS];
    int rank[GROUPS] = {}; // as many are larger
#pragma unroll
    for (int group = 0; group < GROUPS; ++group) {
        mine[group] = kept[group * kWarpSize + lane];
    }
    for (int i = 0; i < stored; i += 2) {
        ulonglong2 two = *reinterpret_cast<const ulonglong2 *>(&kept[i]);
#pragma unroll
        for (int group = 0; group < GROUPS; ++group) {
            rank[group] += int(two.x > mine[group]) + int(two.y > mine[group]);
        }
    }
#pragma unroll
    for (int group = 0; group < GROUPS; ++group) {
        if (rank[group] < k && mine[group] > 0) {
            long long first = (long long)row * k;
            store_pair(mine[group], rank[group], values + first, indices + first);
        }
    }
}
