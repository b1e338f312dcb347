// One new token: o[h] = softmax(scale K[h] q[h]) V[h] for each head h. q and o are heads x 32 floats,
// K and V heads x n x 32. All numbers are finite, scores may be hundreds apart, and n is any number
// of keys from 1 on.
// grid (heads), block (128), dynamic shared 0

#include <math_constants.h>
#include "softmax.cuh" // warp_max, warp_sum and kWholeWarp

extern "C" __global__ void decode_row(const float *q, const float *K, const float *V, float *o,
                                      int n, float scale)
{
    // TODO: the whole kernel. Each warp takes every fourth key, and keeps an online softmax.
    //       At the end the warps' results become one
    // SOLUTION
    constexpr int kWidth = 32, kWarps = 4;
    __shared__ float largests[kWarps], sums[kWarps], parts[kWarps][kWidth];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    size_t head = (size_t)blockIdx.x * n * kWidth;
    float query = q[blockIdx.x * kWidth + lane];
    float largest = -CUDART_INF_F, sum = 0.0f, value = 0.0f; // of column `lane`
    for (int key = warp; key < n; key += kWarps) {
        size_t at = head + (size_t)key * kWidth + lane;
        float score = scale * warp_sum(query * K[at]);
        float new_largest = fmaxf(largest, score);
        float rescale = expf(largest - new_largest), weight = expf(score - new_largest);
        largest = new_largest;
        sum = sum * rescale + weight;
        value = value * rescale + weight * V[at];
    }
    parts[warp][lane] = value;
    if (lane == 0) {
        largests[warp] = largest; // -inf if there was no key for this warp
        sums[warp] = sum;
    }
    __syncthreads(); // every warp's part is there
    if (warp == 0) {
        float whole = 0.0f, result = 0.0f;
        for (int w = 0; w < kWarps; ++w) {
            largest = fmaxf(largest, largests[w]);
        }
        for (int w = 0; w < kWarps; ++w) {
            float weight = expf(largests[w] - largest);
            whole += weight * sums[w];
            result += weight * parts[w][lane];
        }
        o[blockIdx.x * kWidth + lane] = result / whole;
    }
    // END
}
