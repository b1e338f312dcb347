// The gradients of attention: dK and dV in bf16, and the sums of dQ in fp32, without scale, which
// attention_gradient rounds. All are sequences x tokens x heads x D, D is 64 or 128. `rows` and
// `sums`, zeros, are from attention_rows. Tensor maps of Q and dO have boxes of 80 tokens of one
// head and 64 columns, of K and V 128, of dK and dV 16, swizzle 128 bytes. With CAUSAL a query sees
// the keys up to its own place.
// Blocks stay. A work is 128 keys of a head, two groups of 64, which meet the queries 80 at a time.
// Of a band of `together` heads the first keys come first, with CAUSAL the longest work, and a
// block takes the next one from the counter `taken`, 0 before and after. Its first tiles are loaded
// while the gradients of the keys before leave by TMA.
// Scores are transposed, S^T = K Q^T: weights and their gradients are then operand A of dV and dK
// in the registers that they are in. For dQ^T = K^T dS^T both groups' gradients pass through shared
// memory once. It comes before dK, and while dK is computed TMA adds dQ to global memory, in any
// order: its last bits differ from run to run.
// Limit: per tile wgmma and stores move 406 KB through shared memory, 3,168 clocks, and the
// products take 3,200. A tile takes about 4,200 on an H200, since waits come on top.
// grid (at most the multiprocessors and the works, ceil(tokens / 128) * heads * sequences), block (384), dynamic shared 1408 * D + 50432

#include "wgmma_80.cuh"
#include "hopper_attention.cuh"
#include "attention_backward.cuh"
#include "bf16_box.cuh"
#include "bulk_add.cuh"
#include "tma_store.cuh"

#ifndef CAUSAL
#define CAUSAL 0
#endif

constexpr int BN = 128; // keys of a work
constexpr int STAGES = 2;
constexpr int kConsumers = GROUPS * 128;                                          // threads
constexpr int kKeyTile = BN * D * 2, kQueryTile = BM * D * 2, kRowPairs = BM * 8; // bytes
constexpr int kChanges = BM * BN * 2;                                             // of dS
constexpr int kSums = BM * D / 256;       // of dQ, a thread's: columns by queries
constexpr int kWarpSums = 32 * kSums * 4; // bytes, a warp's
constexpr int kWarpBox =
    (kWarpSums + 1023) / 1024 * 1024; // where they leave, or 16 keys' gradients

// ld.shared: two floats from a multiple of 8.
__device__ inline float2 load_shared_2(unsigned from)
{
    float2 two;
    asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
                 : "=f"(two.x), "=f"(two.y)
                 : "r"(from)
                 : "memory");
    return two;
}

// st.shared: four floats to a multiple of 16.
__device__ inline void store_four(unsigned to, const float *four)
{
    asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(to), "f"(four[0]), "f"(four[1]),
                 "f"(four[2]), "f"(four[3])
                 : "memory");
}

// Which keys of which head a work is, and the first tile of queries that see them. After the last
// work `sequence` is -1.
struct Place {
    int sequence, head, first_key, first_tile;
};

__device__ inline Place place_of(int work, int heads, int sequences, int tokens, int together)
{
    const int across = (tokens + BN - 1) / BN, all = heads * sequences;
    const int in_band = work % (together * across), begin = work / (together * across) * together;
    const int height = min(all - begin, together);
    const int number = begin + in_band % height, first_key = in_band / height * BN;
    return {number / heads, number % heads, first_key, CAUSAL ? first_key / BM : 0};
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
    attention_backward(const __grid_constant__ TensorMap Q, const __grid_constant__ TensorMap K,
                       const __grid_constant__ TensorMap V, const __grid_constant__ TensorMap dO,
                       const __grid_constant__ TensorMap dK, const __grid_constant__ TensorMap dV,
                       const float *rows, float *sums, int *taken, int sequences, int heads,
                       int tokens, int together, float scale)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    __shared__ unsigned long long barriers[3 + 4 * STAGES];
    __shared__ Place places[4]; // from the producer: of work number `round`, modulo 4
    const unsigned keys = shared_address(memory), values = keys + kKeyTile;
    const unsigned queries = values + kKeyTile, gradients = queries + STAGES * kQueryTile;
    const unsigned changes = gradients + STAGES * kQueryTile; // STAGES tiles of dS
    const unsigned warp_boxes = changes + STAGES * kChanges;
    const unsigned pairs = warp_boxes + 8 * kWarpBox;    // of `rows`, STAGES tiles
    const unsigned full_keys = shared_address(barriers); // and values
    const unsigned empty_keys = full_keys + 8, empty_values = empty_keys + 8;
    // Of a stage of queries, with their rows, and then of a stage of gradients.
    const unsigned full = empty_values + 8, empty = full + STAGES * 16;
    const int tiles = (tokens + BM - 1) / BM;
    const int works = (tokens + BN - 1) / BN * heads * sequences;
    if (threadIdx.x == 0) {
        mbarrier_init(full_keys, 1);
        mbarrier_init(empty_keys, GROUPS); // one thread of each
        mbarrier_init(empty_values, GROUPS);
        for (int i = 0; i < 2 * STAGES; ++i) {
            mbarrier_init(full + i * 8, 1);
            mbarrier_init(empty + i * 8, GROUPS);
        }
        mbarriers_are_ready();
    }
    __syncthreads();

    if (threadIdx.x >= kConsumers) { // the producer
        fewer_registers<24>();
        if (threadIdx.x == kConsumers) {
            Ring at;
            int round = 0; // works before
            for (int work = blockIdx.x; work < works; ++round) {
                places[round % 4] = place_of(work, heads, sequences, tokens, together);
                const volatile Place &place = places[round % 4]; // 24 registers are few
#pragma unroll 1
                for (int tile = place.first_tile; tile < tiles; ++tile, at.advance()) {
                    const int of_Q = at.stage * 8, of_dO = (STAGES + at.stage) * 8;
                    mbarrier_wait(empty + of_Q, at.phase ^ 1); // passes at once in the first lap
                    mbarrier_expect(full + of_Q, kQueryTile + kRowPairs);
                    load_tile<BM>(queries + at.stage * kQueryTile, &Q, place.head, tile * BM,
                                  place.sequence, full + of_Q);
                    const size_t all_tiles =
                        (size_t)(place.sequence * heads + place.head) * tiles + tile;
                    bulk_load(pairs + at.stage * kRowPairs, rows + all_tiles * (2 * BM), kRowPairs,
                              full + of_Q);
                    mbarrier_wait(empty + of_dO, at.phase ^ 1);
                    mbarrier_expect(full + of_dO, kQueryTile);
                    load_tile<BM>(gradients + at.stage * kQueryTile, &dO, place.head, tile * BM,
                                  place.sequence, full + of_dO);
                    if (tile == place.first_tile) { // values are free before keys are
                        mbarrier_wait(empty_values, round % 2 ^ 1);
                        mbarrier_expect(full_keys, 2 * kKeyTile);
                        load_tile<BN>(values, &V, place.head, place.first_key, place.sequence,
                                      full_keys);
                        mbarrier_wait(empty_keys, round % 2 ^ 1);
                        load_tile<BN>(keys, &K, place.head, place.first_key, place.sequence,
                                      full_keys);
                    }
                }
                const int before = atomicAdd(taken, 1);
                work = gridDim.x + before;
                if (before == works - 1) { // the last of all blocks: each finds nothing once
                    atomicExch(taken, 0);
                }
            }
            mbarrier_wait(empty_values, round % 2 ^ 1);
            places[round % 4].sequence = -1;
            mbarrier_arrive(full_keys);
        }
    } else { // the consumers
        more_registers<240>();
        const int lane = threadIdx.x % 32;
        const int warp = __shfl_sync(kWholeWarp, threadIdx.x / 32, 0), group = warp / 4; // uniform
        const bool speaks = threadIdx.x % 128 == 0; // for the group, after wgmma_wait
        const unsigned my_keys = keys + group * kGroupRows * 128;
        const unsigned my_values = values + group * kGroupRows * 128;
        const unsigned my_box = warp_boxes + warp * kWarpBox;
        const float to_log2 = scale * kLog2E;
        float dk[D / 2], dv[D / 2];
        Ring at;
#pragma unroll 1
        for (int round = 0;; ++round) {
            mbarrier_wait(full_keys, round % 2);
            const volatile Place &place = places[round % 4];
            if (place.sequence < 0) {
                break;
            }
#pragma unroll
            for (int i = 0; i < D / 2; ++i) {
                dk[i] = dv[i] = 0.0f;
            }
#pragma unroll 1
            for (int tile = place.first_tile; tile < tiles; ++tile, at.advance()) {
                const int of_Q = at.stage * 8, of_dO = (STAGES + at.stage) * 8;
                const unsigned q = queries + at.stage * kQueryTile;
                const unsigned g = gradients + at.stage * kQueryTile;
                float s[BM / 2], dp[BM / 2];
                unsigned p[BM / 4], ds[BM / 4];
                mbarrier_wait(full + of_Q, at.phase);
                wgmma_fence();
                start_scores<BM, BN>(s, my_keys, q);
                wgmma_commit();
                mbarrier_wait(full + of_dO, at.phase);
                wgmma_fence();
                start_scores<BM, BN>(dp, my_values, g);
                wgmma_commit();
                wgmma_wait<1>();
                keep_in_order(s);
                if (CAUSAL &&
                    tile * BM < place.first_key + BN) { // some queries don't see some keys
                    const int key = place.first_key + warp * 16 + lane / 4; // of half 0
                    const int query = tile * BM + lane % 4 * 2;
#pragma unroll
                    for (int i = 0; i < BM / 2; ++i) {
                        if (key + i / 2 % 2 * 8 > query + i / 4 * 8 + i % 2) {
                            s[i] = -CUDART_INF_F;
                        }
                    }
                }
                if (!CAUSAL && place.first_key + BN > tokens) { // a missing key's weight is 0, and
                    const int key = place.first_key + warp * 16 + lane / 4; // not exp(-lse): that
#pragma unroll
                    for (int i = 0; i < BM / 2; ++i) { // may be infinite, and times K's zeros NaN
                        if (key + i / 2 % 2 * 8 >= tokens) {
                            s[i] = -CUDART_INF_F;
                        }
                    }
                }
                const unsigned of_rows = pairs + at.stage * kRowPairs + lane % 4 * 8;
#pragma unroll
                for (int j = 0; j < BM / 8; ++j) { // of two neighbouring queries
                    const float2 lse = load_shared_2(of_rows + j * 32);
#pragma unroll
                    for (int i = 0; i < 4; ++i) {
                        const float power = s[j * 4 + i] * to_log2 - (i % 2 == 0 ? lse.x : lse.y);
                        s[j * 4 + i] = exp2_approx(power);
                    }
                }
                wgmma_wait<0>();
                keep_in_order(dp);
                if (tile == tiles - 1 && speaks) {
                    mbarrier_arrive(empty_values);
                }
#pragma unroll
                for (int j = 0; j < BM / 8; ++j) {
                    const float2 sum = load_shared_2(of_rows + BM * 4 + j * 32); // of dO times O
#pragma unroll
                    for (int i = 0; i < 4; ++i) {
                        dp[j * 4 + i] =
                            s[j * 4 + i] * (dp[j * 4 + i] - (i % 2 == 0 ? sum.x : sum.y));
                    }
                }
                to_factors(ds, dp);
                to_factors(p, s);
                keep_in_order(dv);
                keep_in_order(p);
                wgmma_fence();
                start_output<BM>(dv, p, g, true);
                wgmma_commit();
                // The group's keys of dS: a box whose rows are 64 keys of a query, swizzled.
                const unsigned all = changes + at.stage * kChanges, mine = all + group * BM * 128;
#pragma unroll
                for (int j = 0; j < BM / 16; ++j) {
                    const unsigned four[4] = {ds[4 * j], ds[4 * j + 1], ds[4 * j + 2],
                                              ds[4 * j + 3]};
                    const int row = j * 16 + lane / 16 * 8 + lane % 8;
                    const int chunk = warp % 4 * 2 + lane / 8 % 2;
                    stmatrix_4_transposed(mine + swizzled<128>(row, chunk), four);
                }
                writes_are_ready();
                named_barrier<1, kConsumers>(); // both groups have written
                wgmma_wait<0>();
                keep_in_order(dv);
                if (speaks) {
                    mbarrier_arrive(empty + of_dO);
                }

                // dQ^T: the group has 64 columns of K, or with D = 64 half of the queries.
                float dq[kSums];
                const unsigned long long a =
                    wgmma_tile_across(keys + (kBoxes == 2 ? group * BN * 128 : 0), 0);
                const unsigned long long b =
                    wgmma_tile(all + (kBoxes == 2 ? 0 : group * BM / 2 * 128));
                wgmma_fence();
#pragma unroll
                for (int i = 0; i < BN / 16; ++i) { // 16 keys: rows of K, columns of dS
                    wgmma_a_across(dq, a + i * 128, b + i / 4 * BM * 8 + i % 4 * 2, i > 0);
                }
                wgmma_commit();
                keep_in_order(dk);
                keep_in_order(ds);
                wgmma_fence();
                start_output<BM>(dk, ds, q, true);
                wgmma_commit();
                if (lane == 0) {
                    tma_wait_read<0>(); // the box may be written again
                }
                __syncwarp();
                wgmma_wait<1>(); // dQ is there, and dK is on its way
                keep_in_order(dq);
                if (tile == tiles - 1 && speaks) {
                    mbarrier_arrive(empty_keys);
                }
#pragma unroll
                for (int j = 0; j < kSums / 4; ++j) {
                    store_four(my_box + (j * 32 + lane) * 16, dq + j * 4);
                }
                writes_are_ready();
                __syncwarp();
                if (lane == 0) {
                    const size_t all_tiles =
                        (size_t)(place.sequence * heads + place.head) * tiles + tile;
                    bulk_add(sums + (all_tiles * 8 + warp) * (32 * kSums), my_box, kWarpSums);
                    tma_commit();
                }
                wgmma_wait<0>();
                keep_in_order(dk);
                if (speaks) {
                    mbarrier_arrive(empty + of_Q);
                }
            }
            auto store = [&](const TensorMap &to, const float *from) { // the warp's 16 keys
                if (lane == 0) {
                    tma_wait_read<0>();
                }
                __syncwarp();
#pragma unroll
                for (int i = 0; i < kBoxes; ++i) {
                    store_bf16_box(my_box + i * 2048, from + i * 32);
                }
                writes_are_ready();
                __syncwarp();
                if (lane == 0) {
#pragma unroll
                    for (int i = 0; i < kBoxes; ++i) {
                        tma_store_4(&to, i * 64, place.head, place.first_key + warp * 16,
                                    place.sequence, my_box + i * 2048);
                    }
                    tma_commit();
                }
            };
            store(dV, dv);
#pragma unroll
            for (int i = 0; i < D / 2; ++i) {
                dk[i] *= scale;
            }
            store(dK, dk);
        }
        if (lane == 0) {
            tma_wait_read<0>(); // shared memory lives as long as it is read
        }
    }
}
