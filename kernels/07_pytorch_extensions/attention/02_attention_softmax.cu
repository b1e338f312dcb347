// P = softmax of each row of S, in place: S is rows x n floats. A block computes a row in three
// passes: its largest score, the sum of exponentials, the division. Any n, up to 2^31 - 1 rows.
// The second of three kernels of attention by its definition. Minus infinity becomes 0; the largest
// score of each row has to be finite.
// Limit: it moves n^2 numbers for each head three times in and twice out.
// grid (rows), block (256), dynamic shared 0

#include "softmax.cuh"

constexpr int kThreads = 256;

extern "C" __global__ void attention_softmax(float *S, int n)
{
    float *row = S + (size_t)blockIdx.x * n;
    ExpSum mine = {kLowest, 0.0f};
    for (int j = threadIdx.x; j < n; j += kThreads) {
        mine = merged(mine, {row[j], 1.0f});
    }
    ExpSum all = block_merged<kThreads>(mine);
    for (int j = threadIdx.x; j < n; j += kThreads) {
        row[j] = expf(row[j] - all.largest) / all.sum;
    }
}
