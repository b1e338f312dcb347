// A token for each row, drawn from its nucleus: of k logits, sorted, the largest first, as many as
// it takes for their probabilities to reach `p` of the sum of all k. Probabilities are the softmax
// of logits / temperature; indices names the tokens. A number of Philox, of subsequence `row` at
// `offset`, chooses: the same seed and offset, the same tokens. The largest logit of a row is
// finite.
// Limit: latency.
// grid (ceil(rows / 8)), block (256), dynamic shared 0

#include "philox.cuh"
#include "scan.cuh"

// The first place whose running sum of weights reaches `goal`, at most k - 1; `sum` is then the
// running sum there. The whole warp calls it.
__device__ int place_of(const float *logits, int k, float scale, float goal, float &sum)
{
    int lane = threadIdx.x % kWarpSize;
    float before = 0.0f; // the sum of the turns so far
    for (int start = 0;; start += kWarpSize) {
        int i = start + lane;
        float weight = i < k ? expf((logits[i] - logits[0]) * scale) : 0.0f;
        float running = before + warp_scan(weight);
        unsigned reached = __ballot_sync(kWholeWarp, running >= goal || i >= k - 1);
        int first = reached ? __ffs(reached) - 1 : kWarpSize - 1;
        before = __shfl_sync(kWholeWarp, running, first);
        if (reached) {
            sum = before;
            return start + first;
        }
    }
}

extern "C" __global__ void sample_top_p(const float *logits, const long long *indices,
                                        long long *token, int rows, int k, float p,
                                        float temperature, unsigned long long seed,
                                        unsigned long long offset)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / kWarpSize;
    if (row >= rows) {
        return; // the whole warp
    }
    logits += (long long)row * k;
    float scale = 1.0f / temperature, all, nucleus, drawn;
    place_of(logits, k, scale, __int_as_float(0x7f800000), all); // to the end
    place_of(logits, k, scale, p * all, nucleus);
    float u = uniform(philox(seed, row, offset / 4).x); // above 0, up to 1
    int place = place_of(logits, k, scale, u * nucleus, drawn);
    if (threadIdx.x % kWarpSize == 0) {
        token[row] = indices[(long long)row * k + place];
    }
}
