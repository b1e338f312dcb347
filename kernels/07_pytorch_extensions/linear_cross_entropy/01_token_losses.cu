// The cross entropy of each token without a logit in memory: X (tokens x width) and W (words x
// width) are bf16, the logits of token t are X[t] W^T, and loss[t] = logsumexp of them - the one of
// target[t]. logsumexp is kept. A token whose target is `ignored` has a loss of 0, one whose target
// is no word has NaN. Any number of tokens, of words from 1 on and of width from 1 on.
// The idea: a warp takes every eighth word, and of all its logits keeps the largest, the sum of
// exponentials relative to it, and the target's.
// Limit: memory. Each token reads all of W.
// grid (tokens), block (256), dynamic shared 0

#include <cuda_bf16.h>
#include "softmax.cuh"

constexpr int kThreads = 256;

extern "C" __global__ void token_losses(const __nv_bfloat16 *X, const __nv_bfloat16 *W,
                                        const long long *target, float *logsumexp, float *loss,
                                        int width, int words, long long ignored)
{
    __shared__ float wanted;
    const __nv_bfloat16 *x = X + (size_t)blockIdx.x * width;
    int lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
    long long right = target[blockIdx.x];
    ExpSum running = {kLowest, 0.0f}; // the same in all lanes of a warp
    for (int word = warp; word < words; word += kThreads / kWarpSize) {
        const __nv_bfloat16 *w = W + (size_t)word * width;
        float logit = 0.0f;
        for (int i = lane; i < width; i += kWarpSize) {
            logit += float(x[i]) * float(w[i]);
        }
        logit = warp_sum(logit);
        float largest = fmaxf(running.largest, logit);
        running.sum = running.sum * expf(running.largest - largest) + expf(logit - largest);
        running.largest = largest;
        if (word == right && lane == 0) {
            wanted = logit;
        }
    }
    running.sum = lane == 0 ? running.sum : 0.0f; // one lane speaks for the warp
    ExpSum all = block_merged<kThreads>(running);
    if (threadIdx.x == 0) {
        bool exists = 0 <= right && right < words;
        float found = exists ? wanted : __int_as_float(0x7fc00000);
        logsumexp[blockIdx.x] = all.largest + logf(all.sum);
        loss[blockIdx.x] = right == ignored ? 0.0f : logf(all.sum) - (found - all.largest);
    }
}
