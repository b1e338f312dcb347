// What a loss needs of the logits X W^T, and not the logits: for each token and each 256 words the
// largest logit and the sum of exponentials relative to it, pairs[ceil(words / 256)][tokens], and
// for each token the logit of its target, if that is a word. X (tokens x width) and W (words x
// width) are bf16 and come as tensor maps with boxes of 128 x 64 and 256 x 64, swizzle 128 bytes.
// Any number of tokens and words; width a multiple of 8.
// Adds to token_losses a GEMM on tensor cores, as in gemm_hopper. A tile of logits is complete in
// the registers of two warpgroups, in fp32, and ends there.
// Limit: the tensor cores, which wait while a tile's exponentials are taken.
// grid (at most the multiprocessors), block (384), dynamic shared STAGES * 49152 + 32768

#include "hopper_products.cuh"
#include "softmax.cuh"

struct Pairs {
    static constexpr bool kStores = false, kAdds = false;
    float2 *pairs;
    float *wanted;
    const long long *target;
    int M, N;

    __device__ void finish(float (&sum)[kSums], int row, int column) const
    {
        const int lane = threadIdx.x % 32, mine = lane % 4 * 2; // the thread's first column
        if (column + BN > N) {                                  // words that don't exist
#pragma unroll
            for (int i = 0; i < kSums; ++i) {
                if (column + mine + i / 4 * 8 + i % 2 >= N) {
                    sum[i] = __int_as_float(0xff800000);
                }
            }
        }
#pragma unroll
        for (int half = 0; half < 2; ++half) { // two rows, whose columns four lanes share
            const int token = row + lane / 4 + half * 8;
            float largest = kLowest, total = 0.0f;
#pragma unroll
            for (int i = half * 2; i < kSums; i += 4) {
                largest = fmaxf(largest, fmaxf(sum[i], sum[i + 1]));
            }
            largest = fmaxf(largest, __shfl_xor_sync(kWholeWarp, largest, 1));
            largest = fmaxf(largest, __shfl_xor_sync(kWholeWarp, largest, 2));
#pragma unroll
            for (int i = half * 2; i < kSums; i += 4) {
                total += __expf(sum[i] - largest) + __expf(sum[i + 1] - largest);
            }
            total += __shfl_xor_sync(kWholeWarp, total, 1);
            total += __shfl_xor_sync(kWholeWarp, total, 2);
            if (token >= M) {
                continue;
            }
            if (lane % 4 == 0) {
                pairs[(size_t)(column / BN) * M + token] = make_float2(largest, total);
            }
            const long long at = target[token] - column; // in this tile, for one tile of all
            if (0 <= at && at < min(BN, N - column) && at % 8 / 2 == lane % 4) {
#pragma unroll
                for (int i = half * 2; i < kSums; i += 4) {
                    if (at / 8 == i / 4) {
                        wanted[token] = at % 2 == 0 ? sum[i] : sum[i + 1];
                    }
                }
            }
        }
    }
};

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    logit_pairs(const __grid_constant__ TensorMap X, const __grid_constant__ TensorMap W,
                float2 *pairs, float *wanted, const long long *target, int tokens, int words,
                int width)
{
    Pairs end{pairs, wanted, target, tokens, words};
    hopper_product<false, false>(&X, &W, nullptr, tokens, words, width, end);
}
