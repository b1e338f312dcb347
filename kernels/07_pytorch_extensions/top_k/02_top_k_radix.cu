// The k largest elements of each row of x, rows x columns of fp32, and their indices, the largest
// first if SORTED; order and ties as in top_k_rounds.cu. k is at most columns and 2048.
// Adds to top_k_rounds.cu: radix select. A histogram of the highest 8 bits says in which bin the
// k-th largest is; the next one counts the next 8 bits of what is in that bin, and so on until a
// bin is wanted whole. Then one reading more collects what reached it.
// Limit: a block reads its row once for each digit and once to collect; the highest digit of a
// float is little but its exponent, so that few bins get all atomics.
// grid (rows), block (512), dynamic shared 0

#include "top_k.cuh"

#ifndef SORTED
#define SORTED 1
#endif

constexpr int kThreads = 512;
constexpr int kMost = 2048; // k
constexpr int kOwn = kMost / kThreads;

extern "C" __global__ void __launch_bounds__(kThreads)
    top_k_radix(const float *x, float *values, long long *indices, int columns, int k)
{
    __shared__ Room room;
    __shared__ Pair kept[kMost];
    const float *row = x + (long long)blockIdx.x * columns;
    clear<kThreads>(room);
    __syncthreads(); // the room is clear
    Pair low = 0;    // of the bin that is looked into
    int wanted = k;
    for (int shift = 56;; shift -= 8) {
        for (int i = threadIdx.x; i < columns; i += kThreads) {
            Pair pair = pair_of(row[i], i);
            if (shift == 56 || pair >> (shift + 8) == low >> (shift + 8)) {
                atomicAdd(&room.counts[int(pair >> shift) & (kBins - 1)], 1);
            }
        }
        __syncthreads(); // all are counted
        if (threadIdx.x < kWarpSize) {
            find_bin(room, wanted);
        }
        __syncthreads(); // the bin is found
        low |= Pair(room.bin) << shift;
        wanted -= room.above;
        if (wanted == room.inside) { // the bin is wanted whole; one pair alone always is
            break;
        }
        __syncthreads(); // all have read
        for (int i = threadIdx.x; i < kBins; i += kThreads) {
            room.counts[i] = 0;
        }
        __syncthreads(); // the counters are zero
    }
    for (int i = threadIdx.x; i - int(threadIdx.x) < columns; i += kThreads) { // whole warps
        Pair pair = i < columns ? pair_of(row[i], i) : 0;
        add(i < columns && pair >= low, pair, kept, kMost, &room.count);
    }
    __syncthreads(); // k candidates are there
    long long first = (long long)blockIdx.x * k;
    store_largest<kThreads, kOwn, SORTED>(kept, k, values + first, indices + first, room);
}
