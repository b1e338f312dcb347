// O = softmax(scale Q K^T) V in bf16, and the log of the sum of exponentials of each row's scores.
// All four are sequences x tokens x heads x D, lse is sequences x heads x tokens in fp32; D is 64
// or 128, any number of tokens. Tensor maps of Q, K and V have boxes of 64, BN and BN tokens of one
// head and 64 columns, swizzle 128 bytes.
// Adds to attention_wgmma a producer: a thread of a second warpgroup loads keys and values into a
// ring of STAGES each, as far ahead as it has room. Each tile has its own pair of barriers, so
// scores do not wait for values; and there are more keys in a tile.
// Limit: one group multiplies or computes exponentials, never both.
// grid (ceil(tokens / 64), heads, sequences), block (256), dynamic shared (128 + 4 * STAGES * BN) * D

#include "hopper_attention.cuh"

#ifndef BN
#define BN 128 // keys of a tile
#endif
#ifndef STAGES
#define STAGES 2
#endif

constexpr int BM = kGroupRows;
constexpr int kConsumers = 128;
constexpr int kTile = BN * D * 2; // bytes of a tile of keys or values

extern "C" __global__ void __launch_bounds__(kConsumers + 128, 1)
    attention_producer(const __grid_constant__ TensorMap Q, const __grid_constant__ TensorMap K,
                       const __grid_constant__ TensorMap V, __nv_bfloat16 *O, float *lse, int heads,
                       int tokens, float scale)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    __shared__ unsigned long long barriers[1 + 4 * STAGES];
    const unsigned queries = shared_address(memory), ring = queries + kQueries;
    // The ring: keys in its places 0 to STAGES - 1, values behind them.
    const unsigned full_q = shared_address(barriers), full = full_q + 8, empty = full + STAGES * 16;
    const int head = blockIdx.y, sequence = blockIdx.z;
    const int tiles = (tokens + BN - 1) / BN;
    if (threadIdx.x == 0) {
        mbarrier_init(full_q, 1);
        for (int i = 0; i < 2 * STAGES; ++i) {
            mbarrier_init(full + i * 8, 1);
            mbarrier_init(empty + i * 8, 1); // the consumer, by one thread
        }
        mbarriers_are_ready();
    }
    __syncthreads();

    if (threadIdx.x >= kConsumers) { // the producer
        if (threadIdx.x == kConsumers) {
            mbarrier_expect(full_q, kQueries);
            load_tile<BM>(queries, &Q, head, blockIdx.x * BM, sequence, full_q);
            for (int tile = 0; tile < tiles; ++tile) {
#pragma unroll
                for (int of_values = 0; of_values < 2; ++of_values) {
                    const int place = of_values * STAGES + tile % STAGES;
                    mbarrier_wait(empty + place * 8, tile / STAGES % 2 ^ 1); // not in the first lap
                    mbarrier_expect(full + place * 8, kTile);
                    load_tile<BN>(ring + place * kTile, of_values ? &V : &K, head, tile * BN,
                                  sequence, full + place * 8);
                }
            }
        }
        return;
    }

    const int row = blockIdx.x * BM + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4; // the consumer
    auto release = [&](int place) { // wgmma_wait speaks for the group
        if (threadIdx.x == 0) {
            mbarrier_arrive(empty + place * 8);
        }
    };
    Softmax softmax{scale * kLog2E};
    float s[BN / 2], o[D / 2];
    unsigned p[BN / 4];
    mbarrier_wait(full_q, 0);
    for (int tile = 0; tile < tiles; ++tile) {
        const int stage = tile % STAGES;
        const unsigned phase = tile / STAGES % 2;
        mbarrier_wait(full + stage * 8, phase);
        wgmma_fence();
        start_scores<BN>(s, queries, ring + stage * kTile);
        wgmma_commit();
        wgmma_wait<0>();
        keep_in_order(s);
        release(stage);

        if (tile == tiles - 1) {
            mask<false>(s, tile * BN, tokens, row);
        }
        softmax.weights(s);
        to_factors(p, s);
        if (tile > 0) {
            softmax.bring_up_to_date(o);
        }
        keep_in_order(o);
        mbarrier_wait(full + (STAGES + stage) * 8, phase);
        wgmma_fence(); // threads have written o and p
        start_output<BN>(o, p, ring + (STAGES + stage) * kTile, tile > 0);
        wgmma_commit();
        wgmma_wait<0>();
        keep_in_order(o);
        release(STAGES + stage);
    }

    const size_t first = (size_t)sequence * tokens * heads + head; // in rows of D
    softmax.finish(o, lse + ((size_t)sequence * heads + head) * tokens, row, tokens);
    store_rows(o, O + (first + (size_t)row * heads) * D, (size_t)heads * D, row, tokens);
}
