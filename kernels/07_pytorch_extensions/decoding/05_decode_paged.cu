// As decode_grouped, of a paged cache: K and V are pages x PAGE x (heads / GROUP) x 128 bf16 numbers,
// and tokens p PAGE, ..., p PAGE + PAGE - 1 of sequence s are in page table[s][p]; table is
// sequences x pages_of_one. Q, O, lse and lengths as there.
// Adds to decode_grouped: pages that belong to whichever sequence needs them, found through a table.
// Limit: an integer read per key.
// grid (heads / GROUP, sequences, parts), block (128), dynamic shared 0

#include "decode.cuh"

#ifndef GROUP
#define GROUP 4
#endif
#ifndef PAGE
#define PAGE 16
#endif

extern "C" __global__ void __launch_bounds__(kDecodeThreads)
    decode_paged(const uint4 *Q, const uint4 *K, const uint4 *V, float *O, float *lse,
                 const int *lengths, const int *table, int pages_of_one, float scale)
{
    int kv_head = blockIdx.x, sequence = blockIdx.y, kv_heads = gridDim.x;
    size_t query = ((size_t)sequence * kv_heads + kv_head) * GROUP;
    int length = lengths[sequence];
    int keys = (length + gridDim.z - 1) / gridDim.z; // of a part
    int first = min(length, (int)blockIdx.z * keys);
    const int *pages = table + (size_t)sequence * pages_of_one;
    auto row_of = [&](int token) {
        return ((size_t)pages[token / PAGE] * PAGE + token % PAGE) * kv_heads + kv_head;
    };
    Softmax<1> part[GROUP];
    attend(part, Q + query * kChunks, K, V, row_of, first, min(length, first + keys), scale);
    for (int g = 0; g < GROUP; ++g) {
        store_part(O, lse, (query + g) * gridDim.z + blockIdx.z, part[g]);
    }
}
