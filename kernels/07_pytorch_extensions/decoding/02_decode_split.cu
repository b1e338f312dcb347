// As decode_one, but of a part of each sequence's keys: part_O is sequences x heads x parts x 128
// floats, and lse the log-sum-exp of each part, sequences x heads x parts. A part without keys has
// lse -inf, and its part_O isn't written. If there is one part, O is written instead.
// Adds to decode_one: blocks for each part of the keys, so that one long sequence fills the GPU.
// Limit: each key is read by `group` blocks.
// grid (heads, sequences, parts), block (128), dynamic shared 0

#include "decode.cuh"

extern "C" __global__ void __launch_bounds__(kDecodeThreads)
    decode_split(const uint4 *Q, const uint4 *K, const uint4 *V, __nv_bfloat16 *O, float *part_O,
                 float *lse, const int *lengths, int group, int capacity, float scale)
{
    int head = blockIdx.x, sequence = blockIdx.y, kv_heads = gridDim.x / group;
    size_t query = (size_t)sequence * gridDim.x + head;
    int length = lengths[sequence];
    int keys = (length + gridDim.z - 1) / gridDim.z; // of a part
    int first = min(length, (int)blockIdx.z * keys);
    auto row_of = [&](int token) {
        return ((size_t)sequence * capacity + token) * kv_heads + head / group;
    };
    Softmax<1> part[1];
    attend(part, Q + query * kChunks, K, V, row_of, first, min(length, first + keys), scale);
    store_query(O, part_O, lse, query, part[0]);
}
