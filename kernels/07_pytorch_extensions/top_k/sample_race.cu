// A token for each row of logits, rows x columns of fp32, drawn with the probabilities of
// softmax(logits / temperature). Element i of a row takes number i % 4 of Philox block
// (subsequence row * ceil(columns / 4) + i / 4, offset / 4).
// The idea: a race. Each token waits for an exponentially distributed time, divided by its weight;
// the first one wins with its probability, and no sum is ever needed. In logarithms: the largest of
// logit / temperature - log(time). One reading; -log(1 - u) is exact for short times, which win.
// Limit: the arithmetic of random numbers and logarithms.
// grid (rows), block (512), dynamic shared 0

#include "philox.cuh"
#include "top_k.cuh"

constexpr int kThreads = 512, kWarps = kThreads / kWarpSize;

extern "C" __global__ void __launch_bounds__(kThreads)
    sample_race(const float *logits, long long *token, int columns, float temperature,
                unsigned long long seed, unsigned long long offset)
{
    __shared__ Pair of_warp[kWarps];
    const float *row = logits + (long long)blockIdx.x * columns;
    int groups = (columns + 3) / 4;
    float scale = 1.0f / temperature;
    Pair best = 0;
    for (int group = threadIdx.x; group < groups; group += kThreads) {
        unsigned long long subsequence = (unsigned long long)blockIdx.x * groups + group;
        uint4 bits = philox(seed, subsequence, offset / 4);
        const unsigned each[4] = {bits.x, bits.y, bits.z, bits.w};
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            int i = 4 * group + j;
            if (i < columns) {
                float time = -log1pf(-uniform(each[j])); // +inf where u is 1
                best = max(best, pair_of(row[i] * scale - logf(time), i));
            }
        }
    }
    for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
        best = max(best, __shfl_xor_sync(kWholeWarp, best, distance));
    }
    if (threadIdx.x % kWarpSize == 0) {
        of_warp[threadIdx.x / kWarpSize] = best;
    }
    __syncthreads(); // every warp's best is there
    if (threadIdx.x == 0) {
        for (int warp = 1; warp < kWarps; ++warp) {
            best = max(best, of_warp[warp]);
        }
        token[blockIdx.x] = index_in(best);
    }
}
