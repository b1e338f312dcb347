// O = softmax(scale q K^T) V for one new token of each sequence: Q and O are sequences x heads x
// 128 bf16 numbers, K and V sequences x capacity x (heads / group) x 128. Sequence s has
// lengths[s] tokens in the cache, its own among them; `group` query heads share a head of keys.
// Without tokens O is 0.
// The online softmax with a block for each query: teams of eight lanes take keys in turn.
// Limit: with few sequences most of the GPU is idle, and each key is read by `group` blocks.
// grid (heads, sequences), block (128), dynamic shared 0

#include "decode.cuh"

extern "C" __global__ void __launch_bounds__(kDecodeThreads)
    decode_one(const uint4 *Q, const uint4 *K, const uint4 *V, __nv_bfloat16 *O, const int *lengths,
               int group, int capacity, float scale)
{
    int head = blockIdx.x, sequence = blockIdx.y, kv_heads = gridDim.x / group;
    size_t row = (size_t)sequence * gridDim.x + head;
    auto row_of = [&](int token) {
        return ((size_t)sequence * capacity + token) * kv_heads + head / group;
    };
    Softmax<1> whole[1];
    attend(whole, Q + row * kChunks, K, V, row_of, 0, lengths[sequence], scale);
    store_query(O, nullptr, nullptr, row, whole[0]);
}
