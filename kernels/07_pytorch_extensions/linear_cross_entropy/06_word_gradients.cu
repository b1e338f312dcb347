// dW = G^T X for row-major bf16 matrices, G (tokens x words), X (tokens x width), dW (words x
// width). With ADD, dW += G^T X, and the sum of both is rounded to bf16. Sums in fp32. G, X and dW
// come as tensor maps with boxes of 64 x 64, 64 x 64 and 16 x 64, swizzle 128 bytes. The map of dW is
// of the type bf16, not of 16-bit integers. Any number of tokens and words. The width is a multiple
// of 8, and so is the distance of G's rows.
// Adds to token_gradients: the sum runs over tokens, along which both operands are rows. TMA adds
// this chunk's sum to the sum of earlier chunks.
// Limit: the tensor cores, and the board's power.
// grid (at most the multiprocessors), block (384), dynamic shared STAGES * 49152 + 32768

#include "hopper_products.cuh"

#ifndef ADD
#define ADD 0
#endif

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    word_gradients(const __grid_constant__ TensorMap G, const __grid_constant__ TensorMap X,
                   const __grid_constant__ TensorMap dW, int words, int width, int tokens)
{
    Rounded<ADD != 0> end;
    hopper_product<true, true>(&G, &X, &dW, words, width, tokens, end);
}
