// The scores of one new token: S[h][j] is the product of query h and key j of the head that serves
// it, times scale. Q is heads x 32 floats, K is keys x kv_heads x 32 and S is heads x keys. Each
// `group` neighbouring query heads share a head of keys: heads is kv_heads x group. A warp has a
// key of one head, and lane c has its element c.
// grid (ceil(keys / 4), kv_heads), block (128), dynamic shared 0

#include "reduce.cuh"

constexpr int kWidth = 32; // elements of a query and a key

extern "C" __global__ void grouped_heads(const float *Q, const float *K, float *S, int keys,
                                         int kv_heads, int group, float scale)
{
    int lane = threadIdx.x % 32;
    int key = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    int kv_head = blockIdx.y;
    if (key >= keys) {
        return; // the whole warp
    }
    // TODO: read the key once, and store its score for each query head that it serves. warp_sum()
    //       adds up over the lanes
    // SOLUTION
    float mine = K[((size_t)key * kv_heads + kv_head) * kWidth + lane];
    for (int i = 0; i < group; ++i) {
        int head = kv_head * group + i;
        float score = warp_sum(mine * Q[head * kWidth + lane]) * scale;
        if (lane == 0) {
            S[(size_t)head * keys + key] = score;
        }
    }
    // END
}
