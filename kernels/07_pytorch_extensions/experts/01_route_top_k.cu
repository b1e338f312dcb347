// The experts of each token: chosen (tokens x TOP) has the columns of the TOP largest of its
// EXPERTS logits, the largest first and of equal ones the lower column; weights (tokens x TOP) are
// the softmax over those TOP alone, which is the softmax over all of them, renormalised. Any number
// of tokens; logits are finite. A warp has a token.
// The idea: the sum over all experts cancels out, so that only TOP exponentials are computed.
// Limit: the row is searched once for every choice, in registers.
// grid (ceil(tokens / 8)), block (256), dynamic shared 0

#include "reduce.cuh"

#ifndef EXPERTS
#define EXPERTS 64
#endif
#ifndef TOP
#define TOP 2 // at most 32 and EXPERTS
#endif

constexpr int kEach = (EXPERTS + 31) / 32; // logits of a lane

// An unsigned integer for every float: larger for larger floats, and never 0.
__device__ inline unsigned ordered(float x)
{
    const unsigned bits = __float_as_uint(x + 0.0f); // -0 becomes 0, its equal
    return bits & 0x80000000 ? ~bits : bits | 0x80000000;
}

extern "C" __global__ void route_top_k(const float *logits, int *chosen, float *weights, int tokens)
{
    const int token = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (token >= tokens) {
        return; // the whole warp
    }
    const float *row = logits + (size_t)token * EXPERTS;
    unsigned left[kEach]; // 0: none, or chosen
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
        const int expert = i * 32 + lane;
        left[i] = expert < EXPERTS ? ordered(row[expert]) : 0;
    }
    int mine = 0; // lane j keeps choice j
#pragma unroll
    for (int choice = 0; choice < TOP; ++choice) {
        unsigned best = 0;
#pragma unroll
        for (int i = 0; i < kEach; ++i) {
            best = max(best, left[i]);
        }
        best = __reduce_max_sync(kWholeWarp, best);
        unsigned at = EXPERTS;
#pragma unroll
        for (int i = kEach - 1; i >= 0; --i) { // the lowest column last
            at = left[i] == best ? i * 32 + lane : at;
        }
        at = __reduce_min_sync(kWholeWarp, at);
#pragma unroll
        for (int i = 0; i < kEach; ++i) {
            left[i] = at == i * 32 + lane ? 0 : left[i];
        }
        mine = lane == choice ? at : mine;
    }
    const float logit = row[mine]; // in the L1 cache
    const float largest = __shfl_sync(kWholeWarp, logit, 0);
    const float power = lane < TOP ? expf(logit - largest) : 0.0f;
    const float sum = warp_sum(power);
    if (lane < TOP) {
        chosen[(size_t)token * TOP + lane] = mine;
        weights[(size_t)token * TOP + lane] = power / sum;
    }
}
