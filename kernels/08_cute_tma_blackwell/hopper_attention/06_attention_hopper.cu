// O = softmax(scale Q K^T) V in bf16, and the log of the sum of exponentials of each row's scores.
// All four are sequences x tokens x heads x D, lse is sequences x heads x tokens in fp32; D is 64
// or 128, any number of tokens. Tensor maps of Q, K, V and O have boxes of 64, BN, BN and 16 tokens
// of one head and 64 columns, swizzle 128 bytes. With CAUSAL a query sees the keys up to its own
// place.
// Adds to attention_turns blocks that stay, and the longest work first: a band of `together` heads
// has its last queries first, which see most keys under a causal mask. A block takes the next work
// from the counter `taken`, 0 before and after. Tiles of keys that no query of the block sees are
// left out, and only those at an edge are masked. A group's output leaves by TMA through the place
// of its queries, while the keys of the next work arrive.
// Limit: the tensor cores, and the exponentials between them.
// grid (at most the multiprocessors and the works, ceil(tokens / 128) * heads * sequences), block (384), dynamic shared (256 + 4 * STAGES * BN) * D

#include "hopper_attention.cuh"
#include "bf16_box.cuh"
#include "tma_store.cuh"

#ifndef BN
#define BN 128 // keys of a tile
#endif
#ifndef STAGES
#define STAGES 2
#endif
#ifndef CAUSAL
#define CAUSAL 0
#endif

constexpr int BM = GROUPS * kGroupRows;
constexpr int kConsumers = GROUPS * 128; // threads
constexpr int kTile = BN * D * 2;        // bytes of a tile of keys or values

// Which queries of which head number `work` is, and how many tiles of keys they see.
struct Place {
    int sequence, head, first_query, tiles;

    __device__ Place(int work, int heads, int sequences, int tokens, int together)
    {
        const int down = (tokens + BM - 1) / BM, all = heads * sequences;
        const int in_band = work % (together * down), begin = work / (together * down) * together;
        const int across = min(all - begin, together);
        const int number = begin + in_band % across;
        sequence = number / heads;
        head = number % heads;
        first_query = (down - 1 - in_band / across) * BM;
        const int end = CAUSAL ? min(tokens, first_query + BM) : tokens; // of the keys
        tiles = (end + BN - 1) / BN;
    }
};

// A place in the ring, and the parity of its phase.
struct Ring {
    int stage = 0;
    unsigned phase = 0;

    __device__ void advance()
    {
        stage = stage + 1 == STAGES ? 0 : stage + 1;
        phase ^= stage == 0;
    }
};

extern "C" __global__ void __launch_bounds__(kConsumers + 128, 1)
    attention_hopper(const __grid_constant__ TensorMap Q, const __grid_constant__ TensorMap K,
                     const __grid_constant__ TensorMap V, const __grid_constant__ TensorMap O,
                     float *lse, int *taken, int sequences, int heads, int tokens, int together,
                     float scale)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    __shared__ unsigned long long barriers[2 * GROUPS + 4 * STAGES];
    __shared__ int works_of_block[2]; // in turn, from the producer to the consumers
    const unsigned queries = shared_address(memory), ring = queries + GROUPS * kQueries;
    // The ring: keys in its places 0 to STAGES - 1, values behind them.
    const unsigned full_q = shared_address(barriers), empty_q = full_q + GROUPS * 8;
    const unsigned full = empty_q + GROUPS * 8, empty = full + STAGES * 16;
    const int works = (tokens + BM - 1) / BM * heads * sequences;
    if (threadIdx.x == 0) {
        for (int i = 0; i < GROUPS; ++i) {
            mbarrier_init(full_q + i * 8, 1);
            mbarrier_init(empty_q + i * 8, 4); // a lane of each warp
        }
        for (int i = 0; i < 2 * STAGES; ++i) {
            mbarrier_init(full + i * 8, 1);
            mbarrier_init(empty + i * 8, GROUPS); // one thread of each
        }
        mbarriers_are_ready();
    }
    __syncthreads();

    if (threadIdx.x >= kConsumers) { // the producer
        fewer_registers<kProducerRegisters>();
        Ring at;
        unsigned round = 0; // the parity of the number of works before
        int work = threadIdx.x == kConsumers ? blockIdx.x : works;
        for (; work < works; round ^= 1) {
            const Place place(work, heads, sequences, tokens, together);
            auto load = [&](int slot, const TensorMap *from, int tile) {
                mbarrier_wait(empty + slot * 8, at.phase ^ 1); // passes at once in the first lap
                mbarrier_expect(full + slot * 8, kTile);
                load_tile<BN>(ring + slot * kTile, from, place.head, tile * BN, place.sequence,
                              full + slot * 8);
            };
#pragma unroll 1
            for (int tile = place.tiles - 1; tile >= 0; --tile, at.advance()) {
                load(at.stage, &K, tile);
                if (tile == place.tiles - 1) { // now the queries, as groups have stored the last
                    works_of_block[round] = work;
#pragma unroll 1
                    for (int group = 0; group < GROUPS; ++group) {
                        mbarrier_wait(empty_q + group * 8, round ^ 1);
                        mbarrier_expect(full_q + group * 8, kQueries);
                        load_tile<kGroupRows>(queries + group * kQueries, &Q, place.head,
                                              place.first_query + group * kGroupRows,
                                              place.sequence, full_q + group * 8);
                    }
                }
                load(STAGES + at.stage, &V, tile);
            }
            const int before = atomicAdd(taken, 1);
            work = gridDim.x + before;
            if (before == works - 1) { // the last of all blocks: each finds nothing once
                atomicExch(taken, 0);
            }
        }
        if (threadIdx.x == kConsumers) {
            works_of_block[round] = works; // the end
            for (int group = 0; group < GROUPS; ++group) {
                mbarrier_wait(empty_q + group * 8, round ^ 1);
                mbarrier_arrive(full_q + group * 8);
            }
        }
    } else { // the consumers
        more_registers<kConsumerRegisters>();
        const int group = threadIdx.x / 128, next = (group + 1) % GROUPS;
        const int lane = threadIdx.x % 32, warp_row = threadIdx.x / 32 * 16; // in the block's tile
        const unsigned mine = queries + group * kQueries;
        const unsigned box = mine + warp_row % kGroupRows * 128; // the warp's rows, 64 columns
        auto arrived = [&](int slot, const Ring &at) { mbarrier_wait(full + slot * 8, at.phase); };
        auto next_keys = [&](Ring at) { // have arrived
            at.advance();
            arrived(at.stage, at);
        };
        auto release = [&](int slot) { // wgmma_wait speaks for the group
            if (threadIdx.x % 128 == 0) {
                mbarrier_arrive(empty + slot * 8);
            }
        };
        Ring at;
        unsigned round = 0;
        if (next == 0) {
            pass_turn(0); // the first turn
        }
        for (;; round ^= 1) {
            mbarrier_wait(full_q + group * 8, round);
            const int work = works_of_block[round];
            if (work >= works) {
                break;
            }
            const Place place(work, heads, sequences, tokens, together);
            const int group_row = place.first_query + group * kGroupRows;
            const int row = place.first_query + warp_row + lane / 4;
            const int all_see = CAUSAL ? min(tokens, group_row + 1) : tokens; // so many keys
            Softmax softmax{scale * kLog2E};
            float s[BN / 2], o[D / 2];
            unsigned p[BN / 4];
            arrived(at.stage, at);
            wgmma_fence();
            start_scores<BN>(s, mine, ring + at.stage * kTile);
            wgmma_commit();
            wgmma_wait<0>();
            keep_in_order(s);
            release(at.stage);
            mask<CAUSAL>(s, (place.tiles - 1) * BN, tokens, row);
            softmax.weights(s);
            to_factors(p, s);
            if (place.tiles > 1) {
                next_keys(at);
            }
            for (int tile = place.tiles - 2; tile >= 0; --tile) {
                const Ring before = at;
                const int values = STAGES + before.stage;
                at.advance();
                keep_in_order(s);
                keep_in_order(o);
                keep_in_order(p);
                wait_for_turn(group);
                wgmma_fence(); // threads have written o and p, and read s
                start_scores<BN>(s, mine, ring + at.stage * kTile);
                wgmma_commit();
                arrived(values, before);
                wgmma_fence(); // once more, behind a loop
                start_output<BN>(o, p, ring + values * kTile, tile < place.tiles - 2);
                wgmma_commit();
                pass_turn(next);
                wgmma_wait<1>(); // the scores are there, and the output before is on its way
                keep_in_order(s);
                release(at.stage);
                if (CAUSAL && (tile + 1) * BN > all_see) {
                    mask<CAUSAL>(s, tile * BN, tokens, row);
                }
                softmax.weights(s);
                if (tile > 0) { // here, so that exponentials stay before the wait: see 04
                    next_keys(at);
                }
                wgmma_wait<0>();
                keep_in_order(o);
                release(values);
                softmax.bring_up_to_date(o);
                to_factors(p, s);
            }
            const int values = STAGES + at.stage;
            arrived(values, at);
            keep_in_order(o);
            wgmma_fence();
            start_output<BN>(o, p, ring + values * kTile, place.tiles > 1);
            wgmma_commit();
            wgmma_wait<0>();
            keep_in_order(o);
            release(values);
            at.advance();

            const size_t in_lse = ((size_t)place.sequence * heads + place.head) * tokens;
            softmax.finish(o, lse + in_lse, row, tokens);
            group_barrier(group); // all four warps have multiplied: the queries may be overwritten
#pragma unroll
            for (int i = 0; i < kBoxes; ++i) {
                store_bf16_box(box + i * kGroupRows * 128, o + i * 32);
            }
            writes_are_ready();
            __syncwarp();
            if (lane == 0) {
#pragma unroll
                for (int i = 0; i < kBoxes; ++i) {
                    tma_store_4(&O, i * 64, place.head, place.first_query + warp_row,
                                place.sequence, box + i * kGroupRows * 128);
                }
                tma_commit();
                tma_wait_read<0>();
                mbarrier_arrive(empty_q + group * 8); // the next queries may come
            }
            __syncwarp();
        }
        if (group == 0) {
            wait_for_turn(0); // the last turn, which nobody takes
        }
    }
}
