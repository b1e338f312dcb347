// The cross entropy of each token, with no logit in memory: the logits of token t are the dot
// products of X[t] with the rows of W, and loss[t] = log of the sum of their exponentials - the
// logit of target[t]. X is tokens x 32 floats, W words x 32. A target equal to `ignored` gives a
// loss of 0, and X[t] may hold anything then. Every other target is a word. Logits may be hundreds
// from 0, and hundreds apart. A small loss between large logits keeps its digits. Any number of
// tokens and of words from 2 on.
// grid (tokens), block (128), dynamic shared 0

#include <math_constants.h>
#include "softmax.cuh" // ExpSum, merged, warp_sum and kWarpSize

extern "C" __global__ void loss_of_tokens(const float *X, const float *W, const long long *target,
                                          float *loss, int words, long long ignored)
{
    // TODO: the whole kernel. Each warp takes every fourth word, and keeps the largest logit so
    //       far and the sum of exponentials relative to it. At the end four pairs become one
    // SOLUTION
    constexpr int kWidth = 32, kWarps = 4;
    __shared__ ExpSum pairs[kWarps];
    __shared__ float right;
    int lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
    long long wanted = target[blockIdx.x];
    if (wanted == ignored) { // the whole block
        if (threadIdx.x == 0) {
            loss[blockIdx.x] = 0.0f;
        }
        return;
    }
    float x = X[(size_t)blockIdx.x * kWidth + lane];
    ExpSum running = {-CUDART_INF_F, 0.0f};
    for (int word = warp; word < words; word += kWarps) {
        float logit = warp_sum(x * W[(size_t)word * kWidth + lane]);
        float largest = fmaxf(running.largest, logit);
        running.sum = running.sum * expf(running.largest - largest) + expf(logit - largest);
        running.largest = largest;
        if (word == wanted && lane == 0) {
            right = logit;
        }
    }
    if (lane == 0) {
        pairs[warp] = running; // -inf and 0 if there was no word for this warp
    }
    __syncthreads(); // every warp's pair is there, and the target's logit
    if (threadIdx.x == 0) {
        ExpSum all = pairs[0];
        for (int w = 1; w < kWarps; ++w) {
            all = merged(all, pairs[w]);
        }
        loss[blockIdx.x] = logf(all.sum) - (right - all.largest);
    }
    // END
}
