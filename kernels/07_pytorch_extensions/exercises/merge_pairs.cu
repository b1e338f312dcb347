// Losses from the pairs of tiles: pairs[tile][token] = (largest, sum), the tile's largest logit and
// the sum of exponentials relative to it. wanted[token] is the logit of the token's target, and
// loss[token] = the log of the sum of exponentials of all logits - wanted. A tile that was -inf
// throughout has the pair (-inf, 0). A target equal to `ignored` has a loss of 0, whatever its pairs
// and `wanted` hold. Otherwise one tile has a finite logit at least. wanted may be -inf, and the
// loss is +inf then. Any number of tokens and of tiles from 1 on. A thread has a token.
// grid (ceil(tokens / 128)), block (128), dynamic shared 0

#include <math_constants.h>

extern "C" __global__ void merge_pairs(const float2 *pairs, const float *wanted,
                                       const long long *target, float *loss, int tokens, int tiles,
                                       long long ignored)
{
    int token = blockIdx.x * blockDim.x + threadIdx.x;
    // TODO: merge the token's pairs, and store its loss
    // SOLUTION
    if (token >= tokens) {
        return;
    }
    if (target[token] == ignored) {
        loss[token] = 0.0f;
        return;
    }
    float largest = -CUDART_INF_F, sum = 0.0f;
    for (int tile = 0; tile < tiles; ++tile) {
        float2 pair = pairs[(size_t)tile * tokens + token];
        if (pair.x == -CUDART_INF_F) {
            continue; // -inf less -inf would be NaN
        }
        float larger = fmaxf(largest, pair.x);
        sum = sum * expf(largest - larger) + pair.y * expf(pair.x - larger);
        largest = larger;
    }
    loss[token] = logf(sum) - (wanted[token] - largest);
    // END
}
