// O = softmax(scale Q K^T) V in bf16, and the log of the sum of exponentials of each row's scores.
// All four are sequences x tokens x heads x D, lse is sequences x heads x tokens in fp32; D is 64
// or 128, any number of tokens. Q, K and V come as tensor maps with boxes of 64 tokens of one head
// and 64 columns, swizzle 128 bytes.
// One warpgroup has 64 queries and meets the keys 64 at a time: scores by wgmma from shared memory,
// the online softmax, then the weights' product with the values, by wgmma with the weights in
// registers. One barrier for both copies of a tile.
// Limit: copies, products and exponentials take turns.
// grid (ceil(tokens / 64), heads, sequences), block (128), dynamic shared 384 * D

#include "hopper_attention.cuh"

constexpr int BM = kGroupRows, BN = 64;
constexpr int kTile = BN * D * 2; // bytes of a tile of keys

extern "C" __global__ void __launch_bounds__(128)
    attention_wgmma(const __grid_constant__ TensorMap Q, const __grid_constant__ TensorMap K,
                    const __grid_constant__ TensorMap V, __nv_bfloat16 *O, float *lse, int heads,
                    int tokens, float scale)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    __shared__ unsigned long long arrived;
    const unsigned queries = shared_address(memory), keys = queries + kQueries;
    const unsigned values = keys + kTile, barrier = shared_address(&arrived);
    const int head = blockIdx.y, sequence = blockIdx.z;
    const int row = blockIdx.x * BM + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
    if (threadIdx.x == 0) {
        mbarrier_init(barrier, 1);
        mbarriers_are_ready();
    }
    __syncthreads();

    Softmax softmax{scale * kLog2E};
    float s[BN / 2], o[D / 2];
    unsigned p[BN / 4];
    const int tiles = (tokens + BN - 1) / BN;
    for (int tile = 0; tile < tiles; ++tile) {
        if (threadIdx.x == 0) { // the queries come with the first tile
            mbarrier_expect(barrier, 2 * kTile + (tile == 0 ? kQueries : 0));
            if (tile == 0) {
                load_tile<BM>(queries, &Q, head, blockIdx.x * BM, sequence, barrier);
            }
            load_tile<BN>(keys, &K, head, tile * BN, sequence, barrier);
            load_tile<BN>(values, &V, head, tile * BN, sequence, barrier);
        }
        mbarrier_wait(barrier, tile % 2);
        wgmma_fence();
        start_scores<BN>(s, queries, keys);
        wgmma_commit();
        wgmma_wait<0>();
        keep_in_order(s);

        if (tile == tiles - 1) {
            mask<false>(s, tile * BN, tokens, row);
        }
        softmax.weights(s);
        to_factors(p, s);
        if (tile > 0) {
            softmax.bring_up_to_date(o);
        }
        keep_in_order(o);
        wgmma_fence(); // threads have written o and p
        start_output<BN>(o, p, values, tile > 0);
        wgmma_commit();
        wgmma_wait<0>();
        keep_in_order(o);
        __syncthreads(); // all four warps have multiplied: the tiles may be overwritten
    }

    const size_t first = (size_t)sequence * tokens * heads + head; // in rows of D
    softmax.finish(o, lse + ((size_t)sequence * heads + head) * tokens, row, tokens);
    store_rows(o, O + (first + (size_t)row * heads) * D, (size_t)heads * D, row, tokens);
}
