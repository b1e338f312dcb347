// O = softmax(scale Q K^T) V in one kernel, and no score in global memory. Q and O are queries x 32
// floats, K and V are keys x 32. A block has four queries, a warp each, and reads every key and
// every value once. All numbers are finite, and so are the scores; scale may be negative. Any
// queries and keys from 1 on.
// grid (ceil(queries / 4)), block (128), dynamic shared 0

#include <math_constants.h>
#include "softmax.cuh" // warp_max, warp_sum and kWholeWarp

constexpr int kWidth = 32; // numbers of a query, a key and a value
constexpr int kTile = 32;  // keys of a tile
constexpr int kWarps = 4;

extern "C" __global__ void attention(const float *Q, const float *K, const float *V, float *O,
                                     int queries, int keys, float scale)
{
    // TODO: the whole kernel. Q stays, tiles of 32 keys and values pass through shared memory, and
    //       three running values are all that a row remembers of them
    // SOLUTION
    __shared__ float q[kWarps][kWidth];
    __shared__ float k[kTile][kWidth + 1]; // a lane reads its own row: no bank conflicts
    __shared__ float v[kTile][kWidth];
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    int query = blockIdx.x * kWarps + warp;
    q[warp][lane] = query < queries ? Q[(size_t)query * kWidth + lane] : 0.0f;
    float largest = -CUDART_INF_F; // of the row's scores so far
    float sum = 0.0f;              // of exp(score - largest), of this lane's keys so far
    float o = 0.0f;                // of exp(score - largest) times value, column `lane`
    for (int first = 0; first < keys; first += kTile) {
        __syncthreads(); // no warp reads the last tile any more
        for (int row = warp; row < kTile; row += kWarps) {
            bool exists = first + row < keys;
            size_t at = (size_t)(first + row) * kWidth + lane;
            k[row][lane] = exists ? K[at] : 0.0f;
            v[row][lane] = exists ? V[at] : 0.0f;
        }
        __syncthreads(); // the tile is complete

        float score = 0.0f; // of key first + lane
        for (int c = 0; c < kWidth; ++c) {
            score += q[warp][c] * k[lane][c];
        }
        score = first + lane < keys ? score * scale : -CUDART_INF_F;
        float new_largest = fmaxf(largest, warp_max(score));
        float rescale = expf(largest - new_largest);
        float weight = expf(score - new_largest);
        largest = new_largest;
        sum = sum * rescale + weight;
        o *= rescale;
        for (int j = 0; j < kTile; ++j) {
            o += __shfl_sync(kWholeWarp, weight, j) * v[j][lane];
        }
    }
    sum = warp_sum(sum);
    if (query < queries) {
        O[(size_t)query * kWidth + lane] = o / sum;
    }
    // END
}
