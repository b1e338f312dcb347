// A token for each row of logits, rows x columns of fp32, drawn with the probabilities of
// softmax(logits / temperature). Element i of a row takes number i % 4 of Philox block
// (subsequence row * ceil(columns / 4) + i / 4, offset / 4). One reading, and no sum.
// The idea: a race. Each token waits -log(1 - u), an exponential time, divided by its weight, and
// the largest logit / temperature - log(time) wins. Since time > u, -log(u) makes a ceiling of that
// score. Below the best score so far a token can't win, so few need the exact logarithms.
// Limit: the arithmetic of random numbers; a block per row.
// grid (rows), block (1024), dynamic shared 0

#include <math_constants.h> // CUDART_INF_F

#include "philox.cuh"
#include "top_k.cuh"

constexpr int kThreads = 1024, kWarps = kThreads / kWarpSize;
constexpr int kQuads = 4, kEach = 4 * kQuads; // a thread takes that many tokens in a turn

// Logits 4 * group to 4 * group + 3 of a row, and -inf beyond its end.
__device__ float4 four(const float *row, int columns, int group)
{
    int i = 4 * group;
    if (reinterpret_cast<unsigned long long>(row) % sizeof(float4) == 0 && i + 4 <= columns) {
        return reinterpret_cast<const float4 *>(row)[group];
    }
    float each[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
        each[j] = i + j < columns ? row[i + j] : -CUDART_INF_F;
    }
    return make_float4(each[0], each[1], each[2], each[3]);
}

// The largest pair of a warp, in each of its threads.
__device__ Pair warp_largest(Pair best)
{
#pragma unroll
    for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
        best = max(best, __shfl_xor_sync(kWholeWarp, best, distance));
    }
    return best;
}

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    sample_race(const float *logits, long long *token, int columns, float temperature,
                unsigned long long seed, unsigned long long offset)
{
    __shared__ Pair of_warp[kWarps];
    __shared__ unsigned highest; // the order of the block's best score so far
    if (threadIdx.x == 0) {
        highest = 0;
    }
    __syncthreads(); // it's zero
    const float *row = logits + (long long)blockIdx.x * columns;
    int lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
    int groups = (columns + 3) / 4;
    unsigned long long first = (unsigned long long)blockIdx.x * groups; // subsequence
    float scale = 1.44269504f / temperature; // log2(e): the GPU's own logarithm is log2
    Pair best = 0;                           // this thread's
    float bound = -CUDART_INF_F;             // the block's best score so far, a little lower
    for (int start = kQuads * kWarpSize * warp; start < groups; start += kQuads * kThreads) {
        float logit[kEach], u[kEach], ceiling[kEach];
#pragma unroll
        for (int q = 0; q < kQuads; ++q) {
            reinterpret_cast<float4 *>(logit)[q] = four(row, columns, start + q * kWarpSize + lane);
        }
        bool open = false; // may one of them win?
#pragma unroll
        for (int q = 0; q < kQuads; ++q) {
            uint4 bits = philox(seed, first + start + q * kWarpSize + lane, offset / 4);
            const unsigned each[4] = {bits.x, bits.y, bits.z, bits.w};
#pragma unroll
            for (int j = 4 * q; j < 4 * q + 4; ++j) {
                u[j] = uniform(each[j % 4]);
                ceiling[j] = fmaf(logit[j], scale, -__log2f(u[j]));
                open |= !(ceiling[j] < bound); // a NaN may
            }
        }
        if (!__any_sync(kWholeWarp, open)) {
            continue;
        }
#pragma unroll
        for (int j = 0; j < kEach; ++j) {
            if (__any_sync(kWholeWarp, !(ceiling[j] < bound))) { // still
                int i = 4 * (start + j / 4 * kWarpSize + lane) + j % 4;
                if (i < columns) {
                    float time = -log1pf(-u[j]); // +inf where u is 1
                    best = max(best, pair_of(fmaf(logit[j], scale, -__log2f(time)), i));
                }
                unsigned order = __reduce_max_sync(kWholeWarp, order_in(best));
                if (lane == 0) {
                    order = max(order, atomicMax(&highest, order));
                }
                order = __shfl_sync(kWholeWarp, order, 0);
                float score = float_of(order);
                bound = score - 1e-5f * (fabsf(score) + 32.0f); // more than rounding takes away
            }
        }
    }
    best = warp_largest(best);
    if (lane == 0) {
        of_warp[warp] = best;
    }
    __syncthreads(); // every warp's best is there
    if (warp == 0) {
        best = warp_largest(of_warp[lane]);
        if (lane == 0) {
            token[blockIdx.x] = index_in(best);
        }
    }
}
