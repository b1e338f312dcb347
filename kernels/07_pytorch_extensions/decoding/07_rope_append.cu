// Rotate the new token's queries and keys, and append its keys and values to a paged cache. q is
// sequences x heads x 128 bf16 numbers, k and v sequences x kv_heads x 128, and q is rotated in
// place. The token's position is lengths[s], and its page table[s][position / PAGE]. K and V are
// pages x kv_heads x PAGE x 128. Numbers i and i + 64 of a row are turned by the angle position *
// base^(-i / 64).
// Fuses four passes over small arrays: two rotations and two copies.
// Limit: launch overhead. At 100,000 tokens fp32's angle is off by some thousandths.
// grid (heads + kv_heads, sequences), block (64), dynamic shared 0

#include <cuda_bf16.h>

#ifndef PAGE
#define PAGE 16
#endif
constexpr int kHalf = 64; // a row's pairs of numbers, one a thread

extern "C" __global__ void __launch_bounds__(kHalf)
    rope_append(__nv_bfloat16 *q, const __nv_bfloat16 *k, const __nv_bfloat16 *v, __nv_bfloat16 *K,
                __nv_bfloat16 *V, const int *lengths, const int *table, int pages_of_one, int heads,
                float log2_base)
{
    int sequence = blockIdx.y, kv_heads = gridDim.x - heads, i = threadIdx.x;
    bool is_key = blockIdx.x >= heads;
    int head = is_key ? blockIdx.x - heads : blockIdx.x;
    int position = lengths[sequence];
    float sine, cosine;
    sincosf(position * exp2f(-log2_base * i / kHalf), &sine, &cosine);

    size_t from = ((size_t)sequence * (is_key ? kv_heads : heads) + head) * 2 * kHalf + i;
    const __nv_bfloat16 *row = is_key ? k : q;
    float x = __bfloat162float(row[from]), y = __bfloat162float(row[from + kHalf]);
    __nv_bfloat16 turned_x = __float2bfloat16(x * cosine - y * sine);
    __nv_bfloat16 turned_y = __float2bfloat16(x * sine + y * cosine);
    if (!is_key) {
        q[from] = turned_x;
        q[from + kHalf] = turned_y;
        return;
    }
    int page = table[(size_t)sequence * pages_of_one + position / PAGE];
    size_t to = (((size_t)page * kv_heads + head) * PAGE + position % PAGE) * 2 * kHalf + i;
    K[to] = turned_x;
    K[to + kHalf] = turned_y;
    V[to] = v[from];
    V[to + kHalf] = v[from + kHalf];
}
