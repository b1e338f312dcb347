// As decode_mma, of a paged cache: K and V are pages x (heads / GROUP) x PAGE x 128 bf16 numbers,
// and tokens p PAGE, ..., p PAGE + PAGE - 1 of sequence s are in page table[s][p]; table is
// sequences x pages_of_one. Q, O, part_O, lse and lengths as there.
// Adds to decode_mma: pages that belong to whichever sequence needs them, found through a table.
// A head's keys of a page are one run of 4 KB.
// Limit: a lane reads the table for every row that it loads.
// grid (heads / GROUP, sequences, parts), block (128), dynamic shared 0

#include "decode_mma.cuh"

#ifndef GROUP
#define GROUP 4
#endif
#ifndef PAGE
#define PAGE 16
#endif

extern "C" __global__ void __launch_bounds__(kDecodeThreads)
    decode_paged(const uint4 *Q, const uint4 *K, const uint4 *V, __nv_bfloat16 *O, float *part_O,
                 float *lse, const int *lengths, const int *table, int pages_of_one, float scale)
{
    int kv_head = blockIdx.x, sequence = blockIdx.y, kv_heads = gridDim.x;
    size_t query = ((size_t)sequence * kv_heads + kv_head) * GROUP;
    int length = lengths[sequence];
    int keys = (length + gridDim.z - 1) / gridDim.z; // of a part, in whole pages
    keys = (keys + PAGE - 1) / PAGE * PAGE;
    int first = min(length, (int)blockIdx.z * keys);
    const int *pages = table + (size_t)sequence * pages_of_one;
    auto row_of = [&](int token) {
        return ((size_t)pages[token / PAGE] * kv_heads + kv_head) * PAGE + token % PAGE;
    };
    Softmax<1> part[GROUP];
    int end = min(length, first + keys);
    attend_mma(part, Q + query * kChunks, K, V, row_of, first, end, scale);
    for (int g = 0; g < GROUP; ++g) {
        store_query(O, part_O, lse, query + g, part[g]);
    }
}
