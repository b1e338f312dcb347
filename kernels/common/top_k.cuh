// The k largest of many floats: an order of integers for them, and selection by histograms. Blocks
// of kThreads threads, whole warps and 128 at least.

#pragma once

#include "scan.cuh"

// A selected pair: the order of an element in the upper half, and in the lower half its index with
// all bits flipped, so that of equal elements the first is the largest pair. 0 means none.
using Pair = unsigned long long;

// An integer that is the larger, the larger x is: -inf, ..., -0, +0, ..., +inf, then all NaNs
// alike.
__device__ inline unsigned order_of(float x)
{
    if (x != x) {
        return 0xffffffff;
    }
    unsigned bits = __float_as_uint(x);
    return bits >> 31 ? ~bits : bits | 0x80000000;
}

// The order of a float, or less if it is a NaN with a sign.
__device__ inline unsigned order_at_least(float x)
{
    unsigned bits = __float_as_uint(x);
    return bits ^ (unsigned(int(bits) >> 31) | 0x80000000);
}

// The float of an order, NaN if no float has it.
__device__ inline float float_of(unsigned order)
{
    return __uint_as_float(order >> 31 ? order & 0x7fffffff : ~order);
}

__device__ inline Pair pair_of(float x, int index)
{
    return Pair(order_of(x)) << 32 | ~unsigned(index);
}

__device__ inline unsigned order_in(Pair pair)
{
    return unsigned(pair >> 32);
}

__device__ inline int index_in(Pair pair)
{
    return int(~unsigned(pair));
}

constexpr int kBins = 256; // of a histogram: one digit of 8 bits

// Shared memory of a block while it selects.
struct Room {
    int counts[kBins];
    unsigned least, most;   // orders
    int bin, above, inside; // found_bin's
    int count;              // of the candidates
};

// Before the first selection; a barrier must follow.
template <int kThreads>
__device__ inline void clear(Room &room)
{
    for (int i = threadIdx.x; i < kBins; i += kThreads) {
        room.counts[i] = 0;
    }
    if (threadIdx.x == 0) {
        room.least = 0xffffffff;
        room.most = 0;
        room.count = 0;
    }
}

// The bin in which the `wanted`-th is, counted from the highest bin down, how many are above it and
// how many inside; inside is 0 if there are fewer. One warp calls it, a lane for 8 bins.
__device__ inline void find_bin(Room &room, int wanted)
{
    constexpr int kEach = kBins / kWarpSize;
    int top = kBins - 1 - kEach * int(threadIdx.x % kWarpSize);
    int counts[kEach], sum = 0;
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
        counts[j] = room.counts[top - j];
        sum += counts[j];
    }
    int above = warp_scan(sum) - sum;
    if (threadIdx.x % kWarpSize == kWarpSize - 1 && above + sum < wanted) {
        room.bin = room.above = room.inside = 0;
    }
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
        if (above < wanted && above + counts[j] >= wanted) {
            room.bin = top - j;
            room.above = above;
            room.inside = counts[j];
        }
        above += counts[j];
    }
}

// A pair that at least `wanted` of the block's pairs reach, and at most `slack` more do, unless
// they agree in all bits from kLowest on. 0 where there are fewer than wanted. Each thread has kOwn
// of them. Digits begin at the highest bit in which the pairs differ.
template <int kThreads, int kLowest, int kOwn>
__device__ inline Pair reached_by(const Pair (&own)[kOwn], int wanted, int slack, Room &room)
{
    unsigned least = 0xffffffff, most = 0;
#pragma unroll
    for (int j = 0; j < kOwn; ++j) {
        if (own[j] > 0) {
            least = min(least, order_in(own[j]));
            most = max(most, order_in(own[j]));
        }
    }
    least = __reduce_min_sync(kWholeWarp, least);
    most = __reduce_max_sync(kWholeWarp, most);
    if (threadIdx.x % kWarpSize == 0) {
        atomicMin(&room.least, least);
        atomicMax(&room.most, most);
    }
    __syncthreads(); // the limits are there
    Pair low = Pair(room.least) << 32;
    Pair span = (Pair(room.most) << 32 | 0xffffffff) - low; // low + span is still inside
    int shift = max(0, 64 - __clzll(span) - 8);
    for (bool found = false; !found;) {
#pragma unroll
        for (int j = 0; j < kOwn; ++j) {
            if (own[j] >= low && own[j] - low <= span) {
                atomicAdd(&room.counts[int((own[j] - low) >> shift)], 1);
            }
        }
        __syncthreads(); // all are counted
        if (threadIdx.x < kWarpSize) {
            find_bin(room, wanted);
        }
        __syncthreads(); // the bin is found
        found = room.inside <= wanted - room.above + slack || shift <= kLowest;
        low = room.inside > 0 ? low + (Pair(room.bin) << shift) : 0;
        wanted -= room.above;
        span = (Pair(1) << shift) - 1;
        shift = max(0, shift - 8);
        for (int i = threadIdx.x; i < kBins; i += kThreads) {
            room.counts[i] = 0;
        }
        if (threadIdx.x == 0) {
            room.least = 0xffffffff;
            room.most = 0;
        }
        __syncthreads(); // all have read, and the room is clear
    }
    return low;
}

// Add the pairs of the lanes that want it to the candidates, as far as there is room. False where
// there is none for the lane's. Whole warps call it. *count may end above the capacity.
__device__ inline bool add(bool wants, Pair pair, Pair *kept, int capacity, int *count)
{
    unsigned takers = __ballot_sync(kWholeWarp, wants);
    if (takers == 0) {
        return true;
    }
    int lane = threadIdx.x % kWarpSize;
    int leader = __ffs(takers) - 1;
    int first = 0;
    if (lane == leader) {
        first = atomicAdd(count, __popc(takers));
    }
    first = __shfl_sync(kWholeWarp, first, leader);
    int slot = first + __popc(takers & ((1u << lane) - 1));
    if (wants && slot < capacity) {
        kept[slot] = pair;
    }
    return !wants || slot < capacity;
}

// Of the room.count candidates, of which kThreads * kOwn at most are there, keep the `wanted`
// largest and up to `slack` more, in any order. Returns a pair that those kept reach and no other.
// A barrier comes before.
template <int kThreads, int kOwn>
__device__ inline Pair keep_largest(Pair *kept, int wanted, int slack, Room &room)
{
    constexpr int kCapacity = kThreads * kOwn;
    int count = min(room.count, kCapacity);
    Pair own[kOwn];
#pragma unroll
    for (int j = 0; j < kOwn; ++j) {
        int i = j * kThreads + threadIdx.x;
        own[j] = i < count ? kept[i] : 0;
    }
    Pair low = reached_by<kThreads, 0>(own, wanted, slack, room);
    if (threadIdx.x == 0) {
        room.count = 0;
    }
    __syncthreads(); // nothing is kept yet
#pragma unroll
    for (int j = 0; j < kOwn; ++j) {
        add(own[j] > 0 && own[j] >= low, own[j], kept, kCapacity, &room.count);
    }
    __syncthreads(); // all that is kept is there
    return low;
}

// A bound for later elements, once there is no room for more.
template <int kThreads, int kOwn>
__device__ inline Pair make_room(Pair *kept, int k, Room &room)
{
    return keep_largest<kThreads, kOwn>(kept, k, k / 4 + 4, room);
}

__device__ inline void store_pair(Pair pair, int at, float *values, long long *indices)
{
    values[at] = float_of(order_in(pair));
    indices[at] = index_in(pair);
}

// Sort 2^m pairs, the largest first: Batcher's bitonic network.
template <int kThreads>
__device__ inline void sort_pairs(Pair *pairs, int n)
{
    for (int size = 2; size <= n; size *= 2) {
        for (int distance = size / 2; distance > 0; distance /= 2) {
            for (int i = threadIdx.x; i < n / 2; i += kThreads) {
                int a = 2 * i - (i & (distance - 1));
                int b = a + distance;
                bool falling = (a & size) == 0;
                Pair first = pairs[a], second = pairs[b];
                if ((first < second) == falling) {
                    pairs[a] = second;
                    pairs[b] = first;
                }
            }
            __syncthreads(); // the step is done everywhere
        }
    }
}

// Store the k largest of the candidates, the largest first if kSorted. As keep_largest.
template <int kThreads, int kOwn, bool kSorted>
__device__ inline void store_largest(Pair *kept, int k, float *values, long long *indices,
                                     Room &room)
{
    constexpr int kFew = 128; // that many are ranked as they are
    int slack = kSorted ? max(kFew - k, 0) : 0;
    if (room.count > k + slack) {
        keep_largest<kThreads, kOwn>(kept, k, slack, room);
    }
    int count = room.count;
    if (kSorted && count <= 2 * kFew) {
        for (int i = threadIdx.x; i < count; i += kThreads) {
            Pair own = kept[i];
            int rank = 0; // as many are larger
            for (int j = 0; j < count; ++j) {
                rank += kept[j] > own;
            }
            if (rank < k) {
                store_pair(own, rank, values, indices);
            }
        }
        return;
    }
    if (kSorted) {
        int padded = 1 << (32 - __clz(k - 1));
        for (int i = k + threadIdx.x; i < padded; i += kThreads) {
            kept[i] = 0;
        }
        __syncthreads(); // what fills up is there
        sort_pairs<kThreads>(kept, padded);
    }
    for (int i = threadIdx.x; i < k; i += kThreads) {
        store_pair(kept[i], i, values, indices);
    }
}
