// Decoupled look-back: the sum of the tiles before this one, while they still work.
// A tile has one 64-bit word, 0 before the launch: a flag in its upper half, in its lower half the
// bits of a float or of an unsigned. Both change in one store, so no fence is needed between them.

#pragma once

#include "scan.cuh"

using TileWord = unsigned long long;

constexpr unsigned kNothing = 0;   // the tile has said nothing yet
constexpr unsigned kAggregate = 1; // the sum of the tile's own elements
constexpr unsigned kPrefix = 2;    // the sum of all elements up to the tile's last one

__device__ inline unsigned bits_of(float value)
{
    return __float_as_uint(value);
}

__device__ inline unsigned bits_of(unsigned value)
{
    return value;
}

template <typename T>
__device__ inline T value_of(unsigned bits);

template <>
__device__ inline float value_of<float>(unsigned bits)
{
    return __uint_as_float(bits);
}

template <>
__device__ inline unsigned value_of<unsigned>(unsigned bits)
{
    return bits;
}

// st.relaxed.gpu: other blocks see the whole word or nothing of it.
template <typename T>
__device__ inline void publish(TileWord *word, unsigned flag, T value)
{
    const TileWord both = (TileWord)flag << 32 | bits_of(value);
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(word), "l"(both) : "memory");
}

// ld.relaxed.gpu: never from the SM's own L1 cache, where the word would be an old one.
__device__ inline TileWord read_word(const TileWord *word)
{
    TileWord both;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(both) : "l"(word) : "memory");
    return both;
}

template <typename T>
struct LookedBack {
    T before;            // the sum of all elements of the tiles before
    long long prefix_of; // the tile whose prefix was found; of those after it, the aggregates
    int looks;           // how often words were read, free if unused
};

// Looks back from `tile`. Every lane gets the result. One whole warp calls it, after it has
// published its own tile's aggregate. Waits for tiles that have said nothing: they must have
// started, so tiles are numbered in the order in which their blocks start.
template <typename T>
__device__ inline LookedBack<T> look_back(const TileWord *words, long long tile)
{
    const int lane = threadIdx.x % kWarpSize;
    T sum = T(0); // of the words that this lane has read
    int looks = 0;
    long long nearest = tile - 1;
    unsigned prefixes = 0;
    while (!prefixes) { // 32 tiles at a time
        const long long mine = nearest - lane;
        TileWord word = mine >= 0 ? 0 : (TileWord)kPrefix << 32;
        unsigned needed, waiting;
        do {
            if (word == 0) { // asks again only those that have said nothing
                word = read_word(words + mine);
            }
            prefixes = __ballot_sync(kWholeWarp, word >> 32 == kPrefix);
            needed = prefixes ^ (prefixes - 1); // the lanes up to the nearest prefix, or all
            waiting = __ballot_sync(kWholeWarp, word == 0) & needed;
            ++looks;
        } while (waiting);
        sum += needed >> lane & 1 ? value_of<T>((unsigned)word) : T(0);
        nearest -= prefixes ? __ffs(prefixes) - 1 : kWarpSize;
    }
#pragma unroll
    for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(kWholeWarp, sum, distance);
    }
    return {sum, nearest, looks};
}
