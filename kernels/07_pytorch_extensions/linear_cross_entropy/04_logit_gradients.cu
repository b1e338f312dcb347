// The gradients of logits that are made again: G = weight * (exp(X W^T - logsumexp) - 1 at the
// target), tokens x words in bf16, and zeros for a token whose target is `ignored`. X (tokens x
// width) and W (words x width) are bf16. X, W and G come as tensor maps with boxes of 128 x 64, 256
// x 64 and 16 x 64, swizzle 128 bytes. `weight` has one number, 1 / tokens that count for a mean.
// Any number of tokens and words. The width is a multiple of 8, and so is the distance of G's rows.
// Like gemm_hopper, but a gradient is stored instead of the logit.
// Limit: the tensor cores.
// grid (at most the multiprocessors), block (384), dynamic shared STAGES * 49152 + 32768

#include "hopper_products.cuh"

struct Gradients {
    static constexpr bool kStores = true, kAdds = false;
    const float *logsumexp;
    const long long *target;
    float weight;
    int M;
    long long ignored;
    float of_row[2]; // of the thread's two rows
    long long right[2];
    bool counts[2];

    __device__ void begin(int row)
    {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int token = min(row + threadIdx.x % 32 / 4 + half * 8, M - 1);
            of_row[half] = logsumexp[token];
            right[half] = target[token];
            counts[half] = right[half] != ignored;
        }
    }

    __device__ void pack(unsigned (&packed)[kPacked], const float *sum, int, int column) const
    {
        float value[32];
        column += threadIdx.x % 4 * 2;
#pragma unroll
        for (int i = 0; i < 32; ++i) {
            const int half = i / 2 % 2, word = column + i / 4 * 8 + i % 2;
            const float label = word == right[half] ? 1.0f : 0.0f;
            value[i] = counts[half] ? weight * (__expf(sum[i] - of_row[half]) - label) : 0.0f;
        }
        pack_bf16(packed, value);
    }
};

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    logit_gradients(const __grid_constant__ TensorMap X, const __grid_constant__ TensorMap W,
                    const __grid_constant__ TensorMap G, const float *logsumexp,
                    const long long *target, const float *weight, int tokens, int words, int width,
                    long long ignored)
{
    Gradients end{logsumexp, target, *weight, tokens, ignored};
    hopper_product<false, false>(&X, &W, &G, tokens, words, width, end);
}
