// The loss of each token from the pairs and the target's logit that logit_pairs left: logsumexp of
// all words' logits - wanted. logsumexp is kept. 0 for a token whose target is `ignored`, NaN for
// one whose target is no word. Any number of tokens, tiles of words and words.
// The idea: two pairs merge into one, in any order.
// Limit: memory. 8 bytes for each token and tile, 1 / 64 of the logits in bf16.
// grid (ceil(tokens / 32)), block (32, 8), dynamic shared 0

#include "softmax.cuh"

constexpr int kTokens = 32, kSlices = 8;

extern "C" __global__ void pairs_merged(const float2 *pairs, const float *wanted,
                                        const long long *target, float *logsumexp, float *loss,
                                        int tokens, int tiles, int words, long long ignored)
{
    __shared__ ExpSum of_slice[kSlices][kTokens];
    int token = blockIdx.x * kTokens + threadIdx.x;
    ExpSum mine = {kLowest, 0.0f};
    for (int tile = threadIdx.y; token < tokens && tile < tiles; tile += kSlices) {
        float2 pair = pairs[(size_t)tile * tokens + token];
        mine = merged(mine, {pair.x, pair.y});
    }
    of_slice[threadIdx.y][threadIdx.x] = mine;
    __syncthreads(); // all slices are there
    if (threadIdx.y == 0 && token < tokens) {
        for (int slice = 1; slice < kSlices; ++slice) {
            mine = merged(mine, of_slice[slice][threadIdx.x]);
        }
        long long right = target[token];
        bool exists = 0 <= right && right < words;
        float found = exists ? wanted[token] : __int_as_float(0x7fc00000);
        logsumexp[token] = mine.largest + logf(mine.sum);
        loss[token] = right == ignored ? 0.0f : logf(mine.sum) - (found - mine.largest);
    }
}
