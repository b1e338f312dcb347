// O[r] = softmax(S[r]) V in one pass over the scores: S is rows x n floats, V is n x 32 and O is
// rows x 32. A warp has a row, and lane c has column c of V and O. The scores come 32 at a time.
// Scores may be minus infinity, but at least one of each row is finite. Any rows and n from 1 on.
// grid (ceil(rows / 4)), block (128), dynamic shared 0

#include <math_constants.h>
#include "softmax.cuh"

constexpr int kColumns = 32;

extern "C" __global__ void online_softmax(const float *S, const float *V, float *O, int rows, int n)
{
    int lane = threadIdx.x % 32;
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= rows) {
        return; // the whole warp
    }
    float largest = -CUDART_INF_F; // of the row's scores so far
    float sum = 0.0f;              // of exp(score - largest), of this lane's scores so far
    float o = 0.0f;                // of exp(score - largest) times value, of all scores so far
    for (int first = 0; first < n; first += 32) {
        float score = first + lane < n ? S[(size_t)row * n + first + lane] : -CUDART_INF_F;
        float tile_largest = warp_max(score);
        // TODO: bring largest, sum and o up to date with these 32 scores and their values. Lane j's
        //       weight reaches the others by __shfl_sync. What if all scores so far are -inf?
        // SOLUTION
        float new_largest = fmaxf(largest, tile_largest);
        if (new_largest == -CUDART_INF_F) {
            continue; // nothing but -inf so far: -inf minus -inf would be NaN
        }
        float rescale = expf(largest - new_largest);
        float weight = expf(score - new_largest);
        largest = new_largest;
        sum = sum * rescale + weight;
        o *= rescale;
        for (int j = 0; j < min(32, n - first); ++j) {
            o += __shfl_sync(kWholeWarp, weight, j) * V[(first + j) * kColumns + lane];
        }
        // END
    }
    O[row * kColumns + lane] = o / warp_sum(sum);
}
