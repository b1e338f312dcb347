// As decode_split, for groups of GROUP query heads that share a head of keys: Q and O are
// sequences x heads x 128 bf16 numbers, K and V sequences x capacity x (heads / GROUP) x 128,
// part_O sequences x heads x parts x 128 floats, lse sequences x heads x parts.
// Adds to decode_split: a block keeps all queries of a group in registers, so each key and value
// is read once.
// Limit: arithmetic on ordinary cores, and registers: groups of 8 spill.
// grid (heads / GROUP, sequences, parts), block (128), dynamic shared 0

#include "decode.cuh"

#ifndef GROUP
#define GROUP 4
#endif

extern "C" __global__ void __launch_bounds__(kDecodeThreads)
    decode_grouped(const uint4 *Q, const uint4 *K, const uint4 *V, __nv_bfloat16 *O, float *part_O,
                   float *lse, const int *lengths, int capacity, float scale)
{
    int kv_head = blockIdx.x, sequence = blockIdx.y, kv_heads = gridDim.x;
    size_t query = ((size_t)sequence * kv_heads + kv_head) * GROUP;
    int length = lengths[sequence];
    int keys = (length + gridDim.z - 1) / gridDim.z; // of a part
    int first = min(length, (int)blockIdx.z * keys);
    auto row_of = [&](int token) {
        return ((size_t)sequence * capacity + token) * kv_heads + kv_head;
    };
    Softmax<1> part[GROUP];
    attend(part, Q + query * kChunks, K, V, row_of, first, min(length, first + keys), scale);
    for (int g = 0; g < GROUP; ++g) {
        store_query(O, part_O, lse, query + g, part[g]);
    }
}
