// A router: chosen[t][0] to chosen[t][k - 1] are `first` + the columns of the k largest of token
// t's logits, the largest first and of equal ones the lower column first, and weights[t] is the
// softmax over those k logits. logits is tokens x experts of finite floats, which may be hundreds
// apart, and +0 and -0 are equal. k is from 1 to 8 and at most experts, experts from 1 to 1,000,
// tokens any number from 1 on. A warp has a token.
// grid (ceil(tokens / 4)), block (128), dynamic shared 0

#include <limits.h>
#include <math_constants.h>
#include "softmax.cuh" // warp_max, warp_sum and kWholeWarp

extern "C" __global__ void expert_weights(const float *logits, int *chosen, float *weights,
                                          int tokens, int experts, int k, int first)
{
    // TODO: the whole kernel. k times the warp looks for the next choice, and then it computes the
    //       weights
    // SOLUTION
    int token = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (token >= tokens) {
        return; // the whole warp
    }
    logits += (size_t)token * experts;
    auto comes_first = [](float a, int i, float b, int j) { return a > b || (a == b && i < j); };
    float last = CUDART_INF_F, mine = -CUDART_INF_F; // lane j keeps choice j
    int last_at = -1, mine_at = 0;
    for (int choice = 0; choice < k; ++choice) {
        float best = -CUDART_INF_F;
        int at = INT_MAX;
        for (int c = lane; c < experts; c += 32) {
            float x = logits[c];
            if (comes_first(last, last_at, x, c) && comes_first(x, c, best, at)) {
                best = x;
                at = c;
            }
        }
        for (int distance = 16; distance > 0; distance /= 2) {
            float other = __shfl_xor_sync(kWholeWarp, best, distance);
            int other_at = __shfl_xor_sync(kWholeWarp, at, distance);
            if (comes_first(other, other_at, best, at)) {
                best = other;
                at = other_at;
            }
        }
        last = best;
        last_at = at;
        if (lane == choice) {
            mine = best;
            mine_at = at;
        }
    }
    float largest = __shfl_sync(kWholeWarp, mine, 0);
    float power = lane < k ? expf(mine - largest) : 0.0f;
    float sum = warp_sum(power);
    if (lane < k) {
        chosen[(size_t)token * k + lane] = first + mine_at;
        weights[(size_t)token * k + lane] = power / sum;
    }
    // END
}
