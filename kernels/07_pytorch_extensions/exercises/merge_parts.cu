// Attention over all keys, from attentions over parts of them: parts[p][r] is row r's output over
// part p of the keys (32 floats), and part_lse[p][r] the log of its sum of exponentials. Stores O
// (rows x 32) and lse (rows). A part with no keys has lse minus infinity, and its output may hold
// anything, NaN too. If no part has keys, O is 0 and lse minus infinity. A warp has a row.
// grid (ceil(rows / 4)), block (128), dynamic shared 0

#include <math_constants.h>

constexpr int kColumns = 32;

extern "C" __global__ void merge_parts(const float *parts, const float *part_lse, float *O,
                                       float *lse, int count, int rows)
{
    int lane = threadIdx.x % 32;
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= rows) {
        return; // the whole warp
    }
    // TODO: weigh the parts, store the row of O (lane c its column c) and the row's lse. Any finite
    //       lse may come: exp(lse) alone may be infinite, or 0 for all parts
    // SOLUTION
    float largest = -CUDART_INF_F;
    for (int p = 0; p < count; ++p) {
        largest = fmaxf(largest, part_lse[p * rows + row]);
    }
    float sum = 0.0f, o = 0.0f;
    for (int p = 0; p < count; ++p) {
        float part = part_lse[p * rows + row];
        if (part == -CUDART_INF_F) {
            continue; // no keys: 0 times NaN would be NaN
        }
        float weight = expf(part - largest);
        sum += weight;
        o += weight * parts[(p * rows + row) * kColumns + lane];
    }
    O[row * kColumns + lane] = sum == 0.0f ? 0.0f : o / sum;
    if (lane == 0) {
        lse[row] = sum == 0.0f ? -CUDART_INF_F : largest + logf(sum);
    }
    // END
}
