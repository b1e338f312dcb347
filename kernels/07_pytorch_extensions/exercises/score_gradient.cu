// A tile of the backward pass: dS, the gradient of the products q k, of which S holds rows x keys.
// A score is a product times scale, and lse is the log of the sum of exponentials of all scores of
// a row, those of other tiles too. O and dO (rows x 32) are the rows of the output and its
// gradient, dP (rows x keys) is the gradient of the weights. A warp has a row. Any rows and keys
// from 1 on.
// grid (ceil(rows / 4)), block (128), dynamic shared 0

#include "reduce.cuh"

constexpr int kColumns = 32;

extern "C" __global__ void score_gradient(const float *S, const float *lse, const float *dP,
                                          const float *O, const float *dO, float *dS, int rows,
                                          int keys, float scale)
{
    int lane = threadIdx.x % 32;
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= rows) {
        return; // the whole warp
    }
    // TODO: compute the weights again from S and lse, and store dS. Softmax's gradient takes a sum
    //       over all keys of the row, of which this tile has some: it is also the sum of dO times O
    // SOLUTION
    float dot = warp_sum(O[row * kColumns + lane] * dO[row * kColumns + lane]);
    for (int j = lane; j < keys; j += 32) {
        size_t at = (size_t)row * keys + j;
        float weight = expf(S[at] * scale - lse[row]);
        dS[at] = weight * (dP[at] - dot) * scale;
    }
    // END
}
