// O = softmax(scale Q K^T) V in bf16, and the log of the sum of exponentials of each row's scores.
// All four are sequences x tokens x heads x D, lse is sequences x heads x tokens in fp32; D is 64
// or 128, any number of tokens. Tensor maps of Q, K, V and O have boxes of 64, BN, BN and 16 tokens
// of one head and 64 columns, swizzle 128 bytes. With CAUSAL a query sees the keys up to its own
// place.
// Adds to attention_turns blocks that stay. A block starts the first scores of its next work beside
// the last output of the work in hand, so the queries of both are in shared memory, and one work's
// in registers. It takes the next work from the counter `taken`, 0 before and
// after: of a band of `together` heads the last queries first, with CAUSAL the longest work. At 8192
// tokens one head is best without a mask, when blocks read the same keys and values at about the same
// time, and two are with one. Tiles that no query of the block sees are left out, only those at an
// edge are masked: with BN = 128 the last one alone, so the loop over the others has no branch for
// it. Outputs leave by TMA through the place of their queries. Descriptors come from uniform
// registers. And weights have room to grow: see roomy_softmax.cuh.
// Limit: the tensor cores, and the power that they take.
// grid (at most the multiprocessors and the works, ceil(tokens / 128) * heads * sequences), block (384), dynamic shared (512 + 4 * STAGES * BN) * D

#include "hopper_attention.cuh"
#include "bf16_box.cuh"
#include "roomy_softmax.cuh"
#include "tma_store.cuh"
#include "wgmma_registers_along.cuh"

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
constexpr int kInHand = 2;               // works whose queries are in shared memory

// Lane 0's value, for all of a warp. wgmma reads descriptors from uniform registers, and the
// assembler computes there with values that it knows to be the same in all lanes. Others it keeps
// in ordinary registers, and moves the halves of descriptors over before each product.
__device__ inline int uniform(int value)
{
    return __shfl_sync(kWholeWarp, value, 0);
}

// Which queries of which head a work is, and how many tiles of keys they see: none after the last.
struct Place {
    int sequence, head, first_query, tiles;
};

__device__ inline Place place_of(int work, int heads, int sequences, int tokens, int together)
{
    const int down = (tokens + BM - 1) / BM, all = heads * sequences;
    const int in_band = work % (together * down), begin = work / (together * down) * together;
    const int across = min(all - begin, together);
    const int number = begin + in_band % across;
    const int first_query = (down - 1 - in_band / across) * BM;
    const int end = CAUSAL ? min(tokens, first_query + BM) : tokens; // of the keys
    return {number / heads, number % heads, first_query, (end + BN - 1) / BN};
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

extern "C" __global__ void __launch_bounds__(kConsumers + 128, 1)
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
    const int works = (tokens + BM - 1) / BM * heads * sequences;
    if (threadIdx.x == 0) {
        for (int i = 0; i < kInHand * GROUPS; ++i) {
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

    // Where the queries of a group are, or their barriers, for its work number `round`.
    auto place_of_queries = [](int round, int group) { return round % kInHand * GROUPS + group; };
    auto phase_of_queries = [](int round) { return round / kInHand % 2; };

    if (threadIdx.x >= kConsumers) { // the producer
        fewer_registers<kProducerRegisters>();
        Ring at;
        int round = 0; // works before
        int work = threadIdx.x == kConsumers ? blockIdx.x : works;
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
                load_tile<BN>(ring + slot * kTile, from, place.head, tile * BN, place.sequence,
                              full + slot * 8);
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
        const int warp = uniform(threadIdx.x / 32), lane = threadIdx.x % 32;
        const int group = warp / 4, next_group = (group + 1) % GROUPS;
        const int warp_row = warp * 16; // in the block's tile
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
        auto arrived_work = [&](int round) {
            const int slot = place_of_queries(round, group);
            mbarrier_wait(full_q + slot * 8, phase_of_queries(round));
            const Place &place = places[slot];
            return Place{uniform(place.sequence), uniform(place.head), uniform(place.first_query),
                         uniform(place.tiles)};
        };
        auto queries_of = [&](int round) {
            return queries + place_of_queries(round, group) * kQueries;
        };
        Ring at;
        float s[BN / 2], o[D / 2];
        unsigned p[BN / 4], q[D / 4]; // weights and queries, as wgmma takes them

        unsigned stored = 0; // the barrier of queries whose place TMA reads an output from
        auto release_queries = [&] {
            if (stored != 0 && lane == 0) {
                tma_wait_read<0>();
                mbarrier_arrive(stored);
            }
            __syncwarp();
            stored = 0;
        };

        // Queries into registers, where wgmma reads them without shared memory.
        auto load_queries = [&](unsigned from) {
            const int row = warp_row % kGroupRows + lane % 16;
#pragma unroll
            for (int i = 0; i < D / 16; ++i) {
                unsigned four[4];
                ldmatrix_4(four, from + i / 4 * kGroupRows * 128 +
                                     swizzled<128>(row, i % 4 * 2 + lane / 16));
#pragma unroll
                for (int j = 0; j < 4; ++j) {
                    q[i * 4 + j] = four[j];
                }
            }
        };
        // Starts the scores of the queries in `q`.
        auto start_scores_of = [&](unsigned keys) {
            const unsigned long long k = wgmma_tile(keys);
#pragma unroll
            for (int i = 0; i < D / 16; ++i) {
                wgmma_registers_along(s, q + i * 4, k + i / 4 * BN * 8 + i % 4 * 2, i > 0);
            }
        };
        // Starts the scores of the next keys and the output of the weights in `p`. Then the scores
        // are there, and the output is on its way. Returns where its values are. Between the two
        // the warp must not part, or descriptors are no longer uniform.
        auto start_both = [&](bool add, bool first) {
            const Ring before = at;
            const int values = STAGES + before.stage;
            at.advance();
            keep_in_order(s);
            keep_in_order(o);
            keep_in_order(p);
            wait_for_turn(group);
            wgmma_fence(); // threads have written o and p, and read s
            start_scores_of(ring + at.stage * kTile);
            wgmma_commit();
            arrived(values, before);
            wgmma_fence(); // once more, behind a loop
            start_output<BN>(o, p, ring + values * kTile, add);
            wgmma_commit();
            pass_turn(next_group);
            if (first) { // of a work: the output before it may still be read
                release_queries();
            }
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
            if (place.tiles > 1) {
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
        load_queries(queries_of(round));
        wgmma_fence();
        start_scores_of(ring + at.stage * kTile);
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
                const int values = start_both(tile < place.tiles - 2,
                                              tile == place.tiles - 2);
                bool scaled_down = true;
                if (CAUSAL && BN < BM && (tile + 1) * BN > all_see) {
                    mask<CAUSAL>(s, tile * BN, tokens, row_of(place));
                    softmax.first_exponents(s);
                } else {
                    scaled_down = softmax.exponents(s);
                }
                if (tile > 0) {
                    next_keys(at);
                }
                wait_for_output(values); // weights come after: they may be packed at once
                if (scaled_down) {
                    softmax.bring_up_to_date(o);
                }
                softmax.weights(s);
                to_factors(p, s);
            }
            release_queries(); // those of a work of one tile come for them
            const Place next = arrived_work(round + 1);
            if (next.tiles == 0) {
                break;
            }
            next_keys(at);
            load_queries(queries_of(round + 1));
            const int values = start_both(place.tiles > 1, true);
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
}
