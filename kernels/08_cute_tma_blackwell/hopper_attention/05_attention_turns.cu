// O = softmax(scale Q K^T) V in bf16, and the log of the sum of exponentials of each row's scores.
// All four are sequences x tokens x heads x D, lse is sequences x heads x tokens in fp32; D is 64
// or 128, any number of tokens. Tensor maps of Q, K and V have boxes of 64, BN and BN tokens of one
// head and 64 columns, swizzle 128 bytes.
// Adds to attention_overlap turns: a group starts its products when the one before has started its
// own, by named barriers, which threads arrive at without waiting. So one group's exponentials fall
// into the other's products.
// Limit: a block loads nothing for its next queries while it stores, and then it ends.
// grid (ceil(tokens / 128), heads, sequences), block (384), dynamic shared (256 + 4 * STAGES * BN) * D

#include "hopper_attention.cuh"

#ifndef BN
#define BN 128 // keys of a tile
#endif
#ifndef STAGES
#define STAGES 2
#endif

constexpr int BM = GROUPS * kGroupRows;
constexpr int kConsumers = GROUPS * 128; // threads
constexpr int kTile = BN * D * 2;        // bytes of a tile of keys or values

extern "C" __global__ void __launch_bounds__(kConsumers + 128, 1)
    attention_turns(const __grid_constant__ TensorMap Q, const __grid_constant__ TensorMap K,
                    const __grid_constant__ TensorMap V, __nv_bfloat16 *O, float *lse, int heads,
                    int tokens, float scale)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    __shared__ unsigned long long barriers[1 + 4 * STAGES];
    const unsigned queries = shared_address(memory), ring = queries + GROUPS * kQueries;
    // The ring: keys in its places 0 to STAGES - 1, values behind them.
    const unsigned full_q = shared_address(barriers), full = full_q + 8, empty = full + STAGES * 16;
    const int head = blockIdx.y, sequence = blockIdx.z;
    const int tiles = (tokens + BN - 1) / BN;
    if (threadIdx.x == 0) {
        mbarrier_init(full_q, 1);
        for (int i = 0; i < 2 * STAGES; ++i) {
            mbarrier_init(full + i * 8, 1);
            mbarrier_init(empty + i * 8, GROUPS); // one thread of each
        }
        mbarriers_are_ready();
    }
    __syncthreads();

    if (threadIdx.x >= kConsumers) { // the producer
        fewer_registers<kProducerRegisters>();
        if (threadIdx.x == kConsumers) {
            mbarrier_expect(full_q, GROUPS * kQueries);
            for (int group = 0; group < GROUPS; ++group) {
                load_tile<kGroupRows>(queries + group * kQueries, &Q, head,
                                      blockIdx.x * BM + group * kGroupRows, sequence, full_q);
            }
            for (int tile = 0; tile < tiles; ++tile) {
#pragma unroll
                for (int of_values = 0; of_values < 2; ++of_values) {
                    const int place = of_values * STAGES + tile % STAGES;
                    mbarrier_wait(empty + place * 8, tile / STAGES % 2 ^ 1); // not in the first lap
                    mbarrier_expect(full + place * 8, kTile);
                    load_tile<BN>(ring + place * kTile, of_values ? &V : &K, head,
                                  (tiles - 1 - tile) * BN, sequence, full + place * 8);
                }
            }
        }
    } else { // the consumers
        more_registers<kConsumerRegisters>();
        const int group = threadIdx.x / 128;
        const int row = blockIdx.x * BM + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
        auto release = [&](int place) { // wgmma_wait speaks for the group
            if (threadIdx.x % 128 == 0) {
                mbarrier_arrive(empty + place * 8);
            }
        };
        Softmax softmax{scale * kLog2E};
        float s[BN / 2], o[D / 2];
        unsigned p[BN / 4];
        const int next = (group + 1) % GROUPS;
        if (next == 0) {
            pass_turn(0); // the first turn
        }
        auto arrived = [&](int place, int tile) {
            mbarrier_wait(full + place * 8, tile / STAGES % 2);
        };
        const unsigned mine = queries + group * kQueries;
        mbarrier_wait(full_q, 0);
        arrived(0, 0);
        wgmma_fence();
        start_scores<BN>(s, mine, ring);
        wgmma_commit();
        wgmma_wait<0>();
        keep_in_order(s);
        release(0);
        mask<false>(s, (tiles - 1) * BN, tokens, row);
        softmax.weights(s);
        to_factors(p, s);
        if (tiles > 1) {
            arrived(1 % STAGES, 1);
        }
        for (int tile = 1; tile < tiles; ++tile) {
            const int stage = tile % STAGES, before = STAGES + (tile - 1) % STAGES; // of the values
            keep_in_order(s);
            keep_in_order(o);
            keep_in_order(p);
            wait_for_turn(group);
            wgmma_fence(); // threads have written o and p, and read s
            start_scores<BN>(s, mine, ring + stage * kTile);
            wgmma_commit();
            arrived(before, tile - 1);
            wgmma_fence(); // once more, behind a loop
            start_output<BN>(o, p, ring + before * kTile, tile > 1);
            wgmma_commit();
            pass_turn(next);
            wgmma_wait<1>(); // the scores are there, the output before is on its way
            keep_in_order(s);
            release(stage);
            softmax.weights(s);
            // Ask for the next keys here: behind a loop that waits, the assembler leaves the
            // exponentials where they are. Without one ptxas 12.9 moves the next wait up, before
            // them.
            if (tile + 1 < tiles) {
                arrived((tile + 1) % STAGES, tile + 1);
            }
            wgmma_wait<0>();
            keep_in_order(o);
            release(before);
            softmax.bring_up_to_date(o);
            to_factors(p, s);
        }
        if (group == 0) {
            wait_for_turn(0); // the last turn, which nobody takes
        }
        const int last = STAGES + (tiles - 1) % STAGES;
        arrived(last, tiles - 1);
        keep_in_order(o);
        wgmma_fence();
        start_output<BN>(o, p, ring + last * kTile, tiles > 1);
        wgmma_commit();
        wgmma_wait<0>();
        keep_in_order(o);

        const size_t first = (size_t)sequence * tokens * heads + head; // in rows of D
        softmax.finish(o, lse + ((size_t)sequence * heads + head) * tokens, row, tokens);
        store_rows(o, O + (first + (size_t)row * heads) * D, (size_t)heads * D, row, tokens);
    }
}
