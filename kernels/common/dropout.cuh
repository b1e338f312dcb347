// Dropout decided by a hash, so that a mask need not be stored: the same seed and index give the
// same answer wherever it is asked for.

#pragma once

// Mixes the bits of `index` and `seed` (the finaliser of MurmurHash3): each bit of the input
// changes each bit of the result with a chance of one half.
__device__ inline unsigned mixed_bits(unsigned index, unsigned seed)
{
    unsigned bits = index ^ seed;
    bits = (bits ^ bits >> 16) * 0x85ebca6b;
    bits = (bits ^ bits >> 13) * 0xc2b2ae35;
    return bits ^ bits >> 16;
}

// Whether dropout keeps element `index`: true with a chance of `keep` out of 1.
__device__ inline bool kept(unsigned index, unsigned seed, float keep)
{
    constexpr float kTwoTo24 = 16777216.0f;
    return (mixed_bits(index, seed) >> 8) < keep * kTwoTo24;
}
