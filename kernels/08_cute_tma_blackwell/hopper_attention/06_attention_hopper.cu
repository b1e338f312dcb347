// O = softmax(scale Q K^T) V in bf16, and the log of the sum of exponentials of each row's scores.
// All four are sequences x tokens x heads x D, lse is sequences x heads x tokens in fp32; D is 64
// or 128, any number of tokens. Tensor maps of Q, K, V and O have boxes of 64, BN, BN and 16 tokens
// of one head and 64 columns, swizzle 128 bytes. With CAUSAL a query sees the keys up to its own
// place.
// Adds to attention_turns blocks that stay. A block starts the first scores of its next work beside
// the last output of the work in hand, so the queries of both are there. With CAUSAL a band of
// `together` heads has its last queries first, the longest work, and a block takes the next work
// from the counter `taken`, 0 before and after; tiles that no query of the block sees are left out,
// only those at an edge are masked. Else all works are as long, and CLUSTER blocks with
// neighbouring queries share keys and values: each loads half of a tile for both. Outputs leave by
// TMA through the place of their queries. And weights have room to grow: see roomy_softmax.cuh.
// Limit: the tensor cores, and the power that they take.
// grid (at most the multiprocessors and the works, ceil(tokens / 128) * heads * sequences; a multiple of CLUSTER), block (384), dynamic shared (512 + 4 * STAGES * BN) * D

#include "hopper_attention.cuh"
#include "bf16_box.cuh"
#include "cluster_mbarrier.cuh"
#include "roomy_softmax.cuh"
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
#ifndef CLUSTER
#define CLUSTER 1 // blocks that share keys and values: 2 without a mask, where D is 128
#endif

constexpr int BM = GROUPS * kGroupRows;
constexpr int kConsumers = GROUPS * 128; // threads
constexpr int kTile = BN * D * 2;        // bytes of a tile of keys or values
static_assert(kBoxes % CLUSTER == 0 && !(CAUSAL && CLUSTER > 1));
constexpr int kInHand = 2;               // works whose queries are in shared memory

// cp.async.bulk.tensor with .multicast::cluster: as tma_load_4, to each block in `blocks`. The
// bytes count towards the barrier in each.
__device__ inline void tma_load_4_multicast(unsigned to, const TensorMap *from, int channel,
                                            int column, int row, int image, unsigned barrier,
                                            unsigned short blocks)
{
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [%0], [%1, {%2, %3, %4, %5}], [%6], %7;" ::"r"(to),
                 "l"(from), "r"(channel), "r"(column), "r"(row), "r"(image), "r"(barrier),
                 "h"(blocks)
                 : "memory");
}

// Which queries of which head a work is, and how many tiles of keys they see: none after the last.
struct Place {
    int sequence, head, first_query, tiles;
};

__device__ inline Place place_of(int work, int heads, int sequences, int tokens, int together)
{
    const int down = (tokens + CLUSTER * BM - 1) / (CLUSTER * BM), all = heads * sequences;
    const int in_band = work % (together * down), begin = work / (together * down) * together;
    const int across = min(all - begin, together);
    const int number = begin + in_band % across;
    const int first_query = (down - 1 - in_band / across) * CLUSTER * BM;
    const int end = CAUSAL ? min(tokens, first_query + BM) : tokens; // of the keys
    return {number / heads, number % heads,
            first_query + (CLUSTER > 1 ? cluster_rank() * BM : 0), (end + BN - 1) / BN};
}

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

extern "C" __global__ void __cluster_dims__(CLUSTER) __launch_bounds__(kConsumers + 128, 1)
    attention_hopper(const __grid_constant__ TensorMap Q, const __grid_constant__ TensorMap K,
                     const __grid_constant__ TensorMap V, const __grid_constant__ TensorMap O,
                     float *lse, int *taken, int sequences, int heads, int tokens, int together,
                     float scale)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    __shared__ unsigned long long barriers[2 * kInHand * GROUPS + 4 * STAGES];
    __shared__ Place places[kInHand * GROUPS]; // from the producer to the groups
    const unsigned queries = shared_address(memory), ring = queries + kInHand * GROUPS * kQueries;
    // The ring: keys in its places 0 to STAGES - 1, values behind them.
    const unsigned full_q = shared_address(barriers), empty_q = full_q + kInHand * GROUPS * 8;
    const unsigned full = empty_q + kInHand * GROUPS * 8, empty = full + STAGES * 16;
    const int works = (tokens + CLUSTER * BM - 1) / (CLUSTER * BM) * heads * sequences;
    if (threadIdx.x == 0) {
        for (int i = 0; i < kInHand * GROUPS; ++i) {
            mbarrier_init(full_q + i * 8, 1);
            mbarrier_init(empty_q + i * 8, 4); // a lane of each warp
        }
        for (int i = 0; i < 2 * STAGES; ++i) {
            mbarrier_init(full + i * 8, 1);
            mbarrier_init(empty + i * 8, GROUPS * CLUSTER); // one thread of each
        }
        mbarriers_are_ready();
    }
    __syncthreads();
    if (CLUSTER > 1) { // nobody reaches for another block's barriers before
        cluster_arrive();
        cluster_wait();
    }

    // Where the queries of a group are, or their barriers, for its work number `round`.
    auto place_of_queries = [](int round, int group) { return round % kInHand * GROUPS + group; };
    auto phase_of_queries = [](int round) { return round / kInHand % 2; };

    if (threadIdx.x >= kConsumers) { // the producer
        fewer_registers<kProducerRegisters>();
        Ring at;
        int round = 0; // works before
        int work = threadIdx.x == kConsumers ? blockIdx.x / CLUSTER : works;
        auto give = [&](int group, const Place &place) { // to the group, with its queries
            const int slot = place_of_queries(round, group);
            mbarrier_wait(empty_q + slot * 8, phase_of_queries(round) ^ 1);
            places[slot] = place;
            return slot;
        };
        for (; work < works; ++round) {
            const Place place = place_of(work, heads, sequences, tokens, together);
            auto load = [&](int slot, const TensorMap *from, int tile) {
                mbarrier_wait(empty + slot * 8, at.phase ^ 1); // passes at once in the first lap
                mbarrier_expect(full + slot * 8, kTile);
                if (CLUSTER == 1) {
                    load_tile<BN>(ring + slot * kTile, from, place.head, tile * BN, place.sequence,
                                  full + slot * 8);
                } else { // each block loads a box for both
                    const int box = cluster_rank();
                    tma_load_4_multicast(ring + slot * kTile + box * BN * 128, from, box * 64,
                                         place.head, tile * BN, place.sequence, full + slot * 8, 3);
                }
            };
#pragma unroll 1
            for (int tile = place.tiles - 1; tile >= 0; --tile, at.advance()) {
                load(at.stage, &K, tile);
                if (tile == place.tiles - 1) {
#pragma unroll 1
                    for (int group = 0; group < GROUPS; ++group) {
                        const int slot = give(group, place);
                        mbarrier_expect(full_q + slot * 8, kQueries);
                        load_tile<kGroupRows>(queries + slot * kQueries, &Q, place.head,
                                              place.first_query + group * kGroupRows,
                                              place.sequence, full_q + slot * 8);
                    }
                }
                load(STAGES + at.stage, &V, tile);
            }
            if (CLUSTER > 1) { // all works are as long: they are given out beforehand
                work += gridDim.x / CLUSTER;
                continue;
            }
            const int before = atomicAdd(taken, 1);
            work = gridDim.x + before;
            if (before == works - 1) { // the last of all blocks: each finds nothing once
                atomicExch(taken, 0);
            }
        }
        if (threadIdx.x == kConsumers) {
            for (int group = 0; group < GROUPS; ++group) { // there is none any more
                mbarrier_arrive(full_q + give(group, {}) * 8);
            }
        }
    } else { // the consumers
        more_registers<kConsumerRegisters>();
        const int group = threadIdx.x / 128, next_group = (group + 1) % GROUPS;
        const int lane = threadIdx.x % 32, warp_row = threadIdx.x / 32 * 16; // in the block's tile
        auto arrived = [&](int slot, const Ring &at) { mbarrier_wait(full + slot * 8, at.phase); };
        auto next_keys = [&](Ring at) { // have arrived
            at.advance();
            arrived(at.stage, at);
        };
        auto release = [&](int slot) { // wgmma_wait speaks for the group
            if (CLUSTER == 1 && threadIdx.x % 128 == 0) {
                mbarrier_arrive(empty + slot * 8);
            } else if (CLUSTER > 1 && threadIdx.x % 128 < CLUSTER) { // in each block
                mbarrier_arrive_there(address_in_block(empty + slot * 8, threadIdx.x % 128));
            }
        };
        auto arrived_work = [&](int round) {
            const int slot = place_of_queries(round, group);
            mbarrier_wait(full_q + slot * 8, phase_of_queries(round));
            return places[slot];
        };
        auto queries_of = [&](int round) {
            return queries + place_of_queries(round, group) * kQueries;
        };
        Ring at;
        float s[BN / 2], o[D / 2];
        unsigned p[BN / 4];

        unsigned stored = 0; // the barrier of queries whose place TMA reads an output from
        auto release_queries = [&] {
            if (stored != 0 && lane == 0) {
                tma_wait_read<0>();
                mbarrier_arrive(stored);
            }
            __syncwarp();
            stored = 0;
        };

        // Starts the scores of the next keys and the output of the weights in `p`. Then the scores
        // are there, and the output is on its way. Returns where its values are.
        auto start_both = [&](unsigned from, bool add) {
            const Ring before = at;
            const int values = STAGES + before.stage;
            at.advance();
            keep_in_order(s);
            keep_in_order(o);
            keep_in_order(p);
            wait_for_turn(group);
            wgmma_fence(); // threads have written o and p, and read s
            start_scores<BN>(s, from, ring + at.stage * kTile);
            wgmma_commit();
            arrived(values, before);
            wgmma_fence(); // once more, behind a loop
            start_output<BN>(o, p, ring + values * kTile, add);
            wgmma_commit();
            pass_turn(next_group);
            release_queries();
            wgmma_wait<1>();
            keep_in_order(s);
            release(at.stage);
            return values;
        };
        auto wait_for_output = [&](int values) {
            wgmma_wait<0>();
            keep_in_order(o);
            release(values);
        };
        auto row_of = [&](const Place &place) { return place.first_query + warp_row + lane / 4; };
        // Makes weights of the first scores of a work.
        auto first_weights = [&](const Place &place) {
            RoomySoftmax softmax{scale * kLog2E};
            if (CAUSAL || place.tiles * BN > tokens) {
                mask<CAUSAL>(s, (place.tiles - 1) * BN, tokens, row_of(place));
            }
            softmax.first_exponents(s);
            softmax.weights(s);
            if (place.tiles > 1 && softmax.has_all_weights()) {
                next_keys(at);
            }
            return softmax;
        };
        // Stores the output through the place of its queries, which the group has read.
        auto store = [&](const Place &place, RoomySoftmax &softmax, int round) {
            const size_t in_lse = ((size_t)place.sequence * heads + place.head) * tokens;
            softmax.finish(o, lse + in_lse, row_of(place), tokens);
            group_barrier(group);
            const unsigned box = queries_of(round) + warp_row % kGroupRows * 128; // the warp's rows
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
            }
            __syncwarp();
            stored = empty_q + place_of_queries(round, group) * 8;
        };

        if (next_group == 0) {
            pass_turn(0); // the first turn
        }
        int round = 0;
        Place place = arrived_work(round); // each block has one
        arrived(at.stage, at);
        wgmma_fence();
        start_scores<BN>(s, queries_of(round), ring + at.stage * kTile);
        wgmma_commit();
        wgmma_wait<0>();
        keep_in_order(s);
        release(at.stage);
        RoomySoftmax softmax = first_weights(place);
        to_factors(p, s);
        for (;; ++round) {
            const int group_row = place.first_query + group * kGroupRows;
            const int all_see = CAUSAL ? min(tokens, group_row + 1) : tokens; // so many keys
            for (int tile = place.tiles - 2; tile >= 0; --tile) {
                const int values = start_both(queries_of(round), tile < place.tiles - 2);
                bool scaled_down = true;
                if (CAUSAL && (tile + 1) * BN > all_see) {
                    mask<CAUSAL>(s, tile * BN, tokens, row_of(place));
                    softmax.first_exponents(s);
                } else {
                    scaled_down = softmax.exponents(s);
                }
                softmax.weights(s);
                if (tile > 0 && softmax.has_all_weights()) { // before the wait: see 04
                    next_keys(at);
                }
                wait_for_output(values);
                if (scaled_down) {
                    softmax.bring_up_to_date(o);
                }
                to_factors(p, s);
            }
            release_queries(); // those of a work of one tile come for them
            const Place next = arrived_work(round + 1);
            if (next.tiles == 0) {
                break;
            }
            next_keys(at);
            const int values = start_both(queries_of(round + 1), place.tiles > 1);
            const RoomySoftmax next_softmax = first_weights(next);
            wait_for_output(values);
            store(place, softmax, round);
            to_factors(p, s);
            place = next;
            softmax = next_softmax;
        }
        const int values = STAGES + at.stage;
        arrived(values, at);
        keep_in_order(o);
        keep_in_order(p);
        wgmma_fence();
        start_output<BN>(o, p, ring + values * kTile, place.tiles > 1);
        wgmma_commit();
        wait_for_output(values);
        store(place, softmax, round);
        release_queries();
        if (group == 0) {
            wait_for_turn(0); // the last turn, which nobody takes
        }
    }
    if (CLUSTER > 1) { // a block may be reached for until all are here
        __syncwarp();
        cluster_arrive();
        cluster_wait();
    }
}
