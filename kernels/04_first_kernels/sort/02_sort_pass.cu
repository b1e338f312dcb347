// One pass of a radix sort: moves n unsigned keys, in a stable order, to where the value of their
// byte number `pass` belongs. With PAIRS=1 each key takes a 32-bit value with it; else the two
// arrays of values are not used. counts[256 p + d] is how many keys have the value d in byte p.
// `words` has 256 words for each tile and each of four passes, `tickets` a counter for each pass:
// all 0 before the first. Takes any n from 1 to 2^30 - 1.
// The idea: a tile counts its digits and publishes the counts, ranks its keys by digit in shared
// memory, and 256 threads look back, one for each digit: the chained scan once more, 256 times side
// by side (onesweep, Adinets and Merrill).
// Limit: a block uses memory and shared memory one after the other, and few blocks fit an SM.
// grid (ceil(n / (THREADS * ITEMS))), block (THREADS), dynamic shared 4 * THREADS * ITEMS

#include "scan.cuh"

#ifndef THREADS
#define THREADS 384
#endif
#ifndef ITEMS
#define ITEMS 20
#endif
#ifndef PAIRS
#define PAIRS 0
#endif
#ifndef BLOCKS
#define BLOCKS 1
#endif

constexpr int kThreads = THREADS;
constexpr int kWarps = kThreads / kWarpSize;
constexpr int kItems = ITEMS;
constexpr unsigned kTile = kThreads * kItems;
constexpr int kDigits = 256;

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

// The lanes of the warp whose digit agrees with this one's in bit number kBit. In PTX, since the
// compiler makes about twice as many instructions of `mine ? with : ~with`.
template <int kBit>
__device__ inline unsigned agreeing(unsigned digit)
{
    unsigned lanes;
    asm volatile("{\n"
                 ".reg .b32 bit;\n"
                 ".reg .pred mine;\n"
                 "and.b32 bit, %1, %2;\n"
                 "setp.ne.u32 mine, bit, 0;\n"
                 "vote.sync.ballot.b32 %0, mine, 0xffffffff;\n"
                 "@!mine not.b32 %0, %0;\n"
                 "}"
                 : "=r"(lanes)
                 : "r"(digit), "n"(1 << kBit));
    return lanes;
}

// The bits that are set in all three, in one instruction.
__device__ inline unsigned in_all(unsigned a, unsigned b, unsigned c)
{
    unsigned all;
    asm("lop3.b32 %0, %1, %2, %3, 0x80;" : "=r"(all) : "r"(a), "r"(b), "r"(c));
    return all;
}

// The lanes of the warp whose key has the same digit as this one's.
__device__ inline unsigned lanes_with(unsigned digit)
{
    const unsigned low = in_all(agreeing<0>(digit), agreeing<1>(digit), agreeing<2>(digit));
    const unsigned middle = in_all(agreeing<3>(digit), agreeing<4>(digit), agreeing<5>(digit));
    return in_all(low, middle, agreeing<6>(digit) & agreeing<7>(digit));
}

// The byte of a key that `byte` names for __byte_perm.
__device__ inline unsigned digit_of(unsigned key, unsigned byte)
{
    return __byte_perm(key, 0, byte);
}

extern "C" __global__ void __launch_bounds__(kThreads, BLOCKS)
    sort_pass(const unsigned *keys, unsigned *sorted, const unsigned *values,
              unsigned *sorted_values, const unsigned *counts, unsigned *words, unsigned *tickets,
              int pass, unsigned n)
{
    __shared__ unsigned counters[kWarps][kDigits];
    extern __shared__ unsigned packed[]; // kTile: the keys in their order, then the values
    __shared__ unsigned start[kDigits]; // where the digit's first key goes, less its place here
    __shared__ unsigned drawn;
    const int lane = threadIdx.x % kWarpSize;
    const int warp = threadIdx.x / kWarpSize;
    unsigned byte = 0x4440 + pass; // for __byte_perm: that byte of the key, and three zeros
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
    const int left = n - first; // keys from this thread's first one on
    keys += first;
    values += first;

    unsigned key[kItems];
#pragma unroll
    for (int k = 0; k < kItems; ++k) { // a missing key is the largest: last in the last tile
        key[k] = k * kWarpSize < left ? keys[k * kWarpSize] : ~0u;
    }
    unsigned *own = counters[warp];
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
        atomicAdd(&own[digit_of(key[k], byte)], 1);
    }
    __syncthreads(); // every warp has counted

    unsigned of_tile = 0; // how many keys of the tile have the digit of this thread's number
    if (threadIdx.x < kDigits) {
#pragma unroll 4
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
#pragma unroll 4
        for (int w = 0; w < kWarps; ++w) {
            counters[w][threadIdx.x] += before;
        }
    }
    unsigned earlier = 0; // keys of smaller digits, and of this one in earlier tiles
    if (tile == 0) {
        earlier = scan_of_digits(threadIdx.x < kDigits ? counts[pass * kDigits + threadIdx.x] : 0);
    }
    __syncthreads(); // where each warp's keys of a digit begin

    asm volatile("" : "+r"(byte)); // so the digits are computed again, not kept in registers
    const unsigned lanes_before = (1u << lane) - 1;
    unsigned rank[kItems]; // of the key in the tile
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
        const unsigned digit = digit_of(key[k], byte);
        const unsigned so_far = own[digit];
        __syncwarp(); // all have read the counter
        atomicAdd(&own[digit], 1);
        __syncwarp(); // the counters of this step are there for the next
        rank[k] = so_far + __popc(lanes_with(digit) & lanes_before);
        packed[rank[k]] = key[k];
    }
    if (threadIdx.x < kDigits) {
        for (int k = (int)tile - 1; k >= 0; --k) {
            unsigned word;
            do {
                word = read_word(&words[k * kDigits + threadIdx.x]);
            } while (word == 0);
            earlier += word & kValue;
            if (word & kPrefix) {
                break;
            }
        }
        publish(&words[tile * kDigits + threadIdx.x], kPrefix | (earlier + of_tile));
        start[threadIdx.x] = earlier - before;
    }
    __syncthreads(); // the keys are packed, and where they go is known

    const int in_tile = n - tile * kTile - threadIdx.x; // from this thread's first packed key on
    unsigned to[kItems];
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
        const unsigned i = threadIdx.x + k * kThreads;
        const unsigned moved = packed[i];
        to[k] = start[digit_of(moved, byte)] + i;
        if (k * kThreads < in_tile) {
            sorted[to[k]] = moved;
        }
    }
#if PAIRS
    __syncthreads(); // the packed keys are no longer needed
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
        if (k * kWarpSize < left) {
            packed[rank[k]] = values[k * kWarpSize];
        }
    }
    __syncthreads(); // the values are packed
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
        if (k * kThreads < in_tile) {
            sorted_values[to[k]] = packed[threadIdx.x + k * kThreads];
        }
    }
#endif
}
