// The k largest elements of each row of x, rows x columns of fp32, and their indices, the largest
// first; order and ties as in top_k_rounds.cu. columns is at most 32 * EACH, k at most 96.
// Adds to top_k_stream.cu: a row for a warp, in its registers. With no barrier and no histogram: the
// limit is halved in, by counts over the warp, until k elements reach it, or up to 32 more.
// GROUPS should be k / 32, rounded up.
// Limit: memory bandwidth for few elements, the instructions that count for many.
// grid (ceil(rows / 8)), block (256), dynamic shared 0

#include "top_k.cuh"

#ifndef EACH
#define EACH 32 // elements of a lane
#endif
#ifndef GROUPS
#define GROUPS 2 // of them, of which the largest are looked at for the first limit
#endif

constexpr int kThreads = 256, kWarps = kThreads / kWarpSize;
constexpr int kSlack = 32, kMost = 96 + kSlack; // candidates

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
    __shared__ Pair of_warps[kWarps][kMost];
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
    low = 32 * GROUPS < k ? 0 : __reduce_min_sync(kWholeWarp, low); // k elements reach it
    high = __reduce_max_sync(kWholeWarp, high);
    int reach = count_from(own, low);
    int beyond = 0; // how many reach high + 1: fewer than k
    while (low < high && reach > k + kSlack) {
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
    // Where still too many reach it, low is the k-th itself, and the first that equal it are wanted.
    int equal = reach > k + kSlack ? k - beyond : reach;
    Pair *kept = of_warps[threadIdx.x / kWarpSize];
    unsigned before = (1u << lane) - 1;
    int count = 0;
#pragma unroll
    for (int j = 0; j < EACH; ++j) {
        bool same = own[j] == low;
        unsigned all_same = __ballot_sync(kWholeWarp, same);
        bool wants = own[j] > low || (same && __popc(all_same & before) < equal);
        equal -= __popc(all_same);
        unsigned takers = __ballot_sync(kWholeWarp, wants);
        if (wants) {
            kept[count + __popc(takers & before)] =
                Pair(own[j]) << 32 | ~unsigned(j * kWarpSize + lane);
        }
        count += __popc(takers);
    }
    __syncwarp(); // the candidates are there
    for (int i = lane; i < count; i += kWarpSize) {
        Pair pair = kept[i];
        int rank = 0; // as many are larger
        for (int j = 0; j < count; ++j) {
            rank += kept[j] > pair;
        }
        if (rank < k) {
            long long first = (long long)row * k;
            store_pair(pair, rank, values + first, indices + first);
        }
    }
}
