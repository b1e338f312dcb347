// The pair of each tile of 128 words: pairs[tile][token] = (largest logit, sum of exp(logit -
// largest)) over the words of the tile. x is tokens x words logits; the last tile may have fewer
// words. A logit may be -inf, and a tile that is -inf throughout has the pair (-inf, 0). No logit is
// +inf or NaN. A warp has a tile of a token. Any number of words from 1 on, and up to 65,535
// tokens.
// grid (ceil(words / 128), tokens), block (32), dynamic shared 0

#include <math_constants.h>
#include "softmax.cuh" // warp_max and warp_sum

constexpr int kTile = 128;

extern "C" __global__ void tile_pairs(const float *x, float2 *pairs, int tokens, int words)
{
    int tile = blockIdx.x, token = blockIdx.y, lane = threadIdx.x;
    const float *row = x + (size_t)token * words;
    // TODO: the pair of this tile of this token, from one read of its logits
    // SOLUTION
    float part[kTile / 32], largest = -CUDART_INF_F, sum = 0.0f;
    for (int i = 0; i < kTile / 32; ++i) {
        int word = tile * kTile + i * 32 + lane;
        part[i] = word < words ? row[word] : -CUDART_INF_F;
        largest = fmaxf(largest, part[i]);
    }
    largest = warp_max(largest);
    for (int i = 0; i < kTile / 32; ++i) {
        sum += largest == -CUDART_INF_F ? 0.0f : expf(part[i] - largest);
    }
    sum = warp_sum(sum);
    if (lane == 0) {
        pairs[(size_t)tile * tokens + token] = make_float2(largest, sum);
    }
    // END
}
