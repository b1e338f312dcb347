// As decode_grouped, with bf16 products: Q and O are sequences x heads x 128 bf16 numbers, K and V
// sequences x capacity x (heads / GROUP) x 128, part_O sequences x heads x parts x 128 floats, lse
// sequences x heads x parts. GROUP is 8 at most.
// Adds to decode_grouped: the queries of a group are rows of an mma tile, so that tensor cores
// multiply.
// Limit: 242 registers a thread, and a cache of the full capacity for every sequence.
// grid (heads / GROUP, sequences, parts), block (128), dynamic shared 0

#include "decode_mma.cuh"

#ifndef GROUP
#define GROUP 4
#endif

extern "C" __global__ void __launch_bounds__(kDecodeThreads)
    decode_mma(const uint4 *Q, const uint4 *K, const uint4 *V, __nv_bfloat16 *O, float *part_O,
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
    int end = min(length, first + keys);
    attend_mma(part, Q + query * kChunks, K, V, row_of, first, end, scale);
    for (int g = 0; g < GROUP; ++g) {
        store_query(O, part_O, lse, query + g, part[g]);
    }
}
