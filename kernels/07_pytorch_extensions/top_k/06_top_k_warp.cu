// The k largest elements of each row of x, rows x columns of fp32, and their indices, the largest
// first; order and ties as in top_k_rounds.cu. columns is at most 32 * EACH, which is at most 1024,
// k at most 32 * GROUPS.
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
static_assert(EACH <= kWarpSize, "a bit of a word for each element");

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
    unsigned taken = 0; // a bit for each of the lane's elements
#pragma unroll
    for (int j = 0; j < EACH; ++j) {
        taken |= unsigned(own[j] >= low) << j;
    }
    unsigned before = (1u << lane) - 1;
    if (reach > kMost) { // low is the k-th itself: of those that equal it, the first are wanted
        int equal = k - beyond;
#pragma unroll
        for (int j = 0; j < EACH; ++j) {
            unsigned all_same = __ballot_sync(kWholeWarp, own[j] == low);
            if (own[j] == low && __popc(all_same & before) >= equal) {
                taken &= ~(1u << j);
            }
            equal -= __popc(all_same);
        }
    }
    Pair *kept = of_warps[threadIdx.x / kWarpSize];
    int end = warp_scan(__popc(taken)); // of the lane's places
    int stored = __shfl_sync(kWholeWarp, end, kWarpSize - 1);
    int place = end - __popc(taken);
#pragma unroll
    for (int j = 0; j < EACH; ++j) {
        if (taken >> j & 1) {
            kept[place++] = Pair(own[j]) << 32 | ~unsigned(j * kWarpSize + lane);
        }
    }
    for (int i = stored + lane; i < kMost; i += kWarpSize) {
        kept[i] = 0; // none
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
