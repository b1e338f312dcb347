// dX = G W for row-major bf16 matrices, G (tokens x words), W (words x width), dX (tokens x width);
// sums in fp32. G, W and dX come as tensor maps with boxes of 128 x 64, 64 x 64 and 16 x 64, swizzle
// 128 bytes. Any number of tokens and words, width a multiple of 8, and so is the distance of G's
// rows.
// Like gemm_hopper, but a row of W belongs to a word, along which the sum runs: wgmma transposes.
// Limit: the tensor cores, and the board's power.
// grid (at most the multiprocessors), block (384), dynamic shared STAGES * 49152 + 32768

#include "hopper_products.cuh"

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    token_gradients(const __grid_constant__ TensorMap G, const __grid_constant__ TensorMap W,
                    const __grid_constant__ TensorMap dX, int tokens, int width, int words)
{
    Rounded<false> end;
    hopper_product<false, true>(&G, &W, &dX, tokens, width, words, end);
}
