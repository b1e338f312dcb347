// One pass of a radix sort: moves n unsigned keys, in a stable order, to where the value of their
// byte number `pass` belongs. With PAIRS=1 each key takes a 32-bit value with it; else the two
// arrays of values are not used. counts[256 p + d] is how many keys have the value d in byte p.
// `words` has 256 words for each tile and each of four passes, `tickets` a counter for each pass:
// all 0 before the first. Takes any n from 1 to 2^30 - 1.
// The idea: a tile ranks its keys by digit in shared memory, and 256 threads look back, one for
// each digit: the chained scan once more, 256 times side by side (onesweep, Adinets and Merrill).
// Limit: the ranking, whose steps depend on one another.
// grid (ceil(n / (THREADS * ITEMS))), block (THREADS), dynamic shared 0

#include "scan.cuh"

#ifndef THREADS
#define THREADS 384
#endif
#ifndef ITEMS
#define ITEMS 16
#endif
#ifndef PAIRS
#define PAIRS 0
#endif
#ifndef PAUSE
#define PAUSE 300
#endif
#ifndef BLOCKS
#define BLOCKS 1
#endif

constexpr int kThreads = THREADS;
constexpr int kWarps = kThreads / kWarpSize;
constexpr int kItems = ITEMS;
constexpr int kTile = kThreads * kItems;
constexpr int kBits = 8;
constexpr int kDigits = 1 << kBits;
constexpr int kValues = PAIRS ? kTile : 1;
constexpr unsigned kPause = PAUSE; // nanoseconds before a thread looks again

// A word: a flag in its upper two bits, a count below.
constexpr unsigned kAggregate = 1u << 30;
constexpr unsigned kPrefix = 2u << 30;
constexpr unsigned kValue = kAggregate - 1;

__device__ inline unsigned read_word(const unsigned *word)
{
    unsigned value;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
    return value;
}

__device__ inline void publish(unsigned *word, unsigned value)
{
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(word), "r"(value) : "memory");
}

// The exclusive scan over the first 256 threads of the block; all threads call it.
__device__ inline unsigned scan_of_digits(unsigned value)
{
    __shared__ unsigned of_warp[kDigits / kWarpSize];
    const int lane = threadIdx.x % kWarpSize;
    const int warp = threadIdx.x / kWarpSize;
    const unsigned upto = warp_scan(value);
    if (threadIdx.x < kDigits && lane == kWarpSize - 1) {
        of_warp[warp] = upto;
    }
    __syncthreads(); // every warp's sum is there
    unsigned before = upto - value;
    for (int w = 0; w < kDigits / kWarpSize; ++w) {
        before += w < warp ? of_warp[w] : 0;
    }
    __syncthreads(); // of_warp may be used again
    return before;
}

// The lanes of the warp whose key has the same digit as this one's.
__device__ inline unsigned lanes_with(unsigned digit)
{
    unsigned peers = kWholeWarp;
#pragma unroll
    for (int bit = 0; bit < kBits; ++bit) {
        const bool mine = digit >> bit & 1;
        const unsigned with = __ballot_sync(kWholeWarp, mine);
        peers &= mine ? with : ~with;
    }
    return peers;
}

extern "C" __global__ void __launch_bounds__(kThreads, BLOCKS)
    sort_pass(const unsigned *keys, unsigned *sorted, const unsigned *values,
              unsigned *sorted_values, const unsigned *counts, unsigned *words, unsigned *tickets,
              int pass, unsigned n)
{
    __shared__ unsigned counters[kWarps][kDigits];
    __shared__ unsigned packed[kTile], packed_values[kValues];
    __shared__ unsigned start[kDigits]; // where the digit's first key goes, less its place here
    __shared__ unsigned drawn;
    const int lane = threadIdx.x % kWarpSize;
    const int warp = threadIdx.x / kWarpSize;
    const int shift = kBits * pass;
    if (threadIdx.x == 0) {
        drawn = atomicAdd(&tickets[pass], 1);
    }
#pragma unroll
    for (int digit = lane; digit < kDigits; digit += kWarpSize) {
        counters[warp][digit] = 0;
    }
    __syncthreads(); // the number of the tile is there
    const unsigned tile = drawn;
    words += (size_t)pass * gridDim.x * kDigits; // each pass has its own
    const unsigned first = tile * kTile + warp * kWarpSize * kItems + lane;

    unsigned key[kItems];
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
        const unsigned at = first + k * kWarpSize;
        key[k] = at < n ? keys[at] : ~0u; // the largest: behind all others of the last tile
    }
    unsigned short rank[kItems]; // of the keys of the warp with the same digit
    const unsigned lanes_before = (1u << lane) - 1;
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
        const unsigned digit = key[k] >> shift & (kDigits - 1);
        const unsigned peers = lanes_with(digit);
        const int leader = __ffs(peers) - 1;
        unsigned so_far = 0;
        if (lane == leader) {
            so_far = counters[warp][digit];
            counters[warp][digit] = so_far + __popc(peers);
        }
        __syncwarp(); // the counters of this step are there for the next
        rank[k] = __shfl_sync(kWholeWarp, so_far, leader) + __popc(peers & lanes_before);
    }
    __syncthreads(); // every warp has counted

    unsigned of_tile = 0; // how many keys of the tile have the digit of this thread's number
    if (threadIdx.x < kDigits) {
#pragma unroll
        for (int w = 0; w < kWarps; ++w) {
            const unsigned of_warp = counters[w][threadIdx.x];
            counters[w][threadIdx.x] = of_tile;
            of_tile += of_warp;
        }
        if (tile > 0) {
            publish(&words[tile * kDigits + threadIdx.x], kAggregate | of_tile);
        }
    }
    const unsigned before = scan_of_digits(of_tile); // keys of the tile with smaller digits
    if (threadIdx.x < kDigits) {
#pragma unroll
        for (int w = 0; w < kWarps; ++w) {
            counters[w][threadIdx.x] += before;
        }
    }
    unsigned smaller = 0; // keys of the whole array with smaller digits: tile 0 hands it on
    if (tile == 0) {
        smaller = scan_of_digits(threadIdx.x < kDigits ? counts[pass * kDigits + threadIdx.x] : 0);
    }
    __syncthreads(); // where each warp's keys of a digit begin
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
        const unsigned digit = key[k] >> shift & (kDigits - 1);
        rank[k] += counters[warp][digit];
        packed[rank[k]] = key[k];
#if PAIRS
        const unsigned at = first + k * kWarpSize;
        if (at < n) {
            packed_values[rank[k]] = values[at];
        }
#endif
    }
    if (threadIdx.x < kDigits) {
        unsigned earlier = smaller;
        for (int k = (int)tile - 1; k >= 0; --k) {
            unsigned word;
            while ((word = read_word(&words[k * kDigits + threadIdx.x])) == 0) {
                if (kPause) {
                    __nanosleep(kPause);
                }
            }
            earlier += word & kValue;
            if (word & kPrefix) {
                break;
            }
        }
        publish(&words[tile * kDigits + threadIdx.x], kPrefix | (earlier + of_tile));
        start[threadIdx.x] = earlier - before;
    }
    __syncthreads(); // the keys are packed, and where they go is known
    const unsigned in_tile = n - tile * kTile < kTile ? n - tile * kTile : kTile;
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
        const unsigned i = threadIdx.x + k * kThreads;
        if (i < in_tile) {
            const unsigned moved = packed[i];
            const unsigned to = start[moved >> shift & (kDigits - 1)] + i;
            sorted[to] = moved;
#if PAIRS
            sorted_values[to] = packed_values[i];
#endif
        }
    }
}
