// The attention of each query from its parts' attention. part_O is sequences x heads x parts x 128
// floats, lse sequences x heads x parts, O sequences x heads x 128 bf16 numbers. A part counts by
// exp(lse). Parts with lse -inf have no keys, and their part_O isn't read. If no part has any, O
// is 0.
// The online softmax once more, with parts for keys.
// Limit: one more launch.
// grid (heads, sequences), block (128), dynamic shared 0

#include <cuda_bf16.h>
#include <math_constants.h>

constexpr int kNumbers = 128; // of a row, one a thread

extern "C" __global__ void __launch_bounds__(kNumbers)
    decode_merge(const float *part_O, const float *lse, __nv_bfloat16 *O, int parts)
{
    size_t query = (size_t)blockIdx.y * gridDim.x + blockIdx.x;
    float largest = -CUDART_INF_F, sum = 0.0f, o = 0.0f;
    for (int part = 0; part < parts; ++part) {
        largest = fmaxf(largest, lse[query * parts + part]);
    }
    for (int part = 0; part < parts; ++part) {
        size_t row = query * parts + part;
        if (lse[row] > -CUDART_INF_F) {
            float weight = expf(lse[row] - largest);
            sum += weight;
            o += weight * part_O[row * kNumbers + threadIdx.x];
        }
    }
    O[query * kNumbers + threadIdx.x] = __float2bfloat16(sum > 0.0f ? o / sum : 0.0f);
}
