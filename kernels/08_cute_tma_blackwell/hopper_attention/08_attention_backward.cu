// The gradients of attention: dK and dV in bf16, and the sums of dQ in fp32, without scale, which
// attention_gradient rounds. All are sequences x tokens x heads x D; `rows` is from attention_rows.
// Tensor maps of Q and dO have boxes of 64 tokens of one head and 64 columns, of K and V 128,
// swizzle 128 bytes. `sums` holds 64 x D floats for each tile of queries of each head of each
// sequence, zeros at first, in the order in which this kernel's threads hold them. With CAUSAL a
// query sees the keys up to its own place.
// A block has 128 keys, two groups of 64, and meets the queries 64 at a time. Scores are
// transposed, S^T = K Q^T: weights and their gradients are then the first factors of dV and dK as
// they lie in registers. For dQ = dS K both groups' gradients pass through shared memory once:
// wgmma takes both factors the other way round. TMA adds dQ to global memory, in any order: its
// last bits differ from run to run.
// Limit: five products, and the exponentials between them, which overlap only with the other
// group's.
// grid (ceil(tokens / 128), heads, sequences), block (384), dynamic shared 1280 * D + 33792

#include "hopper_attention.cuh"
#include "bulk_add.cuh"
#include "stmatrix.cuh"
#include "tma_store.cuh"

#ifndef CAUSAL
#define CAUSAL 0
#endif

constexpr int BM = 64, BN = 128; // queries of a tile, keys of a block
constexpr int STAGES = 2;
constexpr int kConsumers = GROUPS * 128;                                          // threads
constexpr int kKeyTile = BN * D * 2, kQueryTile = BM * D * 2, kRowPairs = BM * 8; // bytes
constexpr int kChanges = BN * BM * 2;                                             // of dS^T
constexpr int kWarpSums = BM * D * 4 / 8;                                         // of dQ, a warp's

// st.shared: four floats to a multiple of 16.
__device__ inline void store_four(unsigned to, const float *four)
{
    asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(to), "f"(four[0]), "f"(four[1]),
                 "f"(four[2]), "f"(four[3])
                 : "memory");
}

extern "C" __global__ void __launch_bounds__(kConsumers + 128, 1)
    attention_backward(const __grid_constant__ TensorMap Q, const __grid_constant__ TensorMap K,
                       const __grid_constant__ TensorMap V, const __grid_constant__ TensorMap dO,
                       const float2 *rows, float *sums, __nv_bfloat16 *dK, __nv_bfloat16 *dV,
                       int heads, int tokens, int padded, float scale)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    __shared__ unsigned long long barriers[1 + 4 * STAGES];
    const unsigned keys = shared_address(memory), values = keys + kKeyTile;
    const unsigned queries = values + kKeyTile, gradients = queries + STAGES * kQueryTile;
    const unsigned changes = gradients + STAGES * kQueryTile; // two tiles of dS^T
    const unsigned warp_sums = changes + 2 * kChanges;        // of dQ
    const unsigned pairs = warp_sums + 8 * kWarpSums;         // of `rows`; STAGES tiles
    // Of a stage of queries, with their rows, and then of a stage of gradients.
    const unsigned full_keys = shared_address(barriers), full = full_keys + 8;
    const unsigned empty = full + STAGES * 16;
    const int head = blockIdx.y, sequence = blockIdx.z, first_key = blockIdx.x * BN;
    const size_t all_heads = (size_t)sequence * heads + head;
    const int first_tile = CAUSAL ? first_key / BM : 0, tiles = (tokens + BM - 1) / BM;
    if (threadIdx.x == 0) {
        mbarrier_init(full_keys, 1);
        for (int i = 0; i < 2 * STAGES; ++i) {
            mbarrier_init(full + i * 8, 1);
            mbarrier_init(empty + i * 8, GROUPS); // one thread of each
        }
        mbarriers_are_ready();
    }
    __syncthreads();

    if (threadIdx.x >= kConsumers) { // the producer
        fewer_registers<24>();
        if (threadIdx.x == kConsumers) {
            mbarrier_expect(full_keys, 2 * kKeyTile);
            load_tile<BN>(keys, &K, head, first_key, sequence, full_keys);
            load_tile<BN>(values, &V, head, first_key, sequence, full_keys);
            const float2 *from = rows + all_heads * padded;
#pragma unroll 1
            for (int tile = first_tile; tile < tiles; ++tile) {
                const int number = tile - first_tile, stage = number % STAGES;
                const unsigned parity = number / STAGES % 2 ^ 1, of_dO = (STAGES + stage) * 8;
                mbarrier_wait(empty + stage * 8, parity); // passes at once in the first lap
                mbarrier_expect(full + stage * 8, kQueryTile + kRowPairs);
                load_tile<BM>(queries + stage * kQueryTile, &Q, head, tile * BM, sequence,
                              full + stage * 8);
                bulk_load(pairs + stage * kRowPairs, from + tile * BM, kRowPairs, full + stage * 8);
                mbarrier_wait(empty + of_dO, parity);
                mbarrier_expect(full + of_dO, kQueryTile);
                load_tile<BM>(gradients + stage * kQueryTile, &dO, head, tile * BM, sequence,
                              full + of_dO);
            }
        }
    } else { // the consumers
        more_registers<240>();
        const int group = threadIdx.x / 128, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        const int key = first_key + warp * 16 + lane / 4; // of half 0
        const unsigned mine = keys + group * kGroupRows * 128;
        const unsigned my_values = values + group * kGroupRows * 128;
        const unsigned my_sums = warp_sums + warp * kWarpSums;
        const float to_log2 = scale * kLog2E;
        float dk[D / 2], dv[D / 2];
        mbarrier_wait(full_keys, 0);
#pragma unroll 1
        for (int tile = first_tile; tile < tiles; ++tile) {
            const int number = tile - first_tile, stage = number % STAGES;
            const unsigned phase = number / STAGES % 2;
            const unsigned q = queries + stage * kQueryTile, g = gradients + stage * kQueryTile;
            float s[BM / 2], dp[BM / 2];
            unsigned p[BM / 4], ds[BM / 4];
            mbarrier_wait(full + stage * 8, phase);
            wgmma_fence();
            start_scores<BM, BN>(s, mine, q);
            wgmma_commit();
            mbarrier_wait(full + (STAGES + stage) * 8, phase);
            wgmma_fence();
            start_scores<BM, BN>(dp, my_values, g);
            wgmma_commit();
            wgmma_wait<1>();
            keep_in_order(s);
            const unsigned row_pair = pairs + stage * kRowPairs + lane % 4 * 16;
#pragma unroll
            for (int j = 0; j < BM / 8; ++j) { // of two neighbouring queries: lse, and D
                const float4 two = load_shared_4(row_pair + j * 64);
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    const int query = tile * BM + j * 8 + lane % 4 * 2 + i % 2;
                    const float power = s[j * 4 + i] * to_log2 - (i % 2 == 0 ? two.x : two.z);
                    const bool hidden = CAUSAL && key + i / 2 * 8 > query;
                    s[j * 4 + i] = hidden ? 0.0f : exp2_approx(power);
                }
            }
            to_factors(p, s);
            if (number > 0) {
                keep_in_order(dv);
            }
            keep_in_order(p);
            wgmma_fence();
            start_output<BM>(dv, p, g, number > 0);
            wgmma_commit();
            wgmma_wait<1>(); // dp is there, and dV is on its way
            keep_in_order(dp);
#pragma unroll
            for (int j = 0; j < BM / 8; ++j) {
                const float4 two = load_shared_4(row_pair + j * 64);
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    dp[j * 4 + i] = s[j * 4 + i] * (dp[j * 4 + i] - (i % 2 == 0 ? two.y : two.w));
                }
            }
            to_factors(ds, dp);
            // The warp's 16 keys of dS^T, 64 queries each: rows of 128 bytes, swizzled.
            const unsigned to = changes + number % 2 * kChanges + warp * 16 * 128;
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                const unsigned tile_of_four[4] = {ds[4 * j], ds[4 * j + 1], ds[4 * j + 2],
                                                  ds[4 * j + 3]};
                const int row = lane % 16, chunk = j * 2 + lane / 16;
                stmatrix_4(to + row * 128 + (chunk ^ row % 8) * 16, tile_of_four);
            }
            writes_are_ready();
            keep_in_order(ds);
            wgmma_fence();
            start_output<BM>(dk, ds, q, number > 0);
            wgmma_commit();
            named_barrier<1, kConsumers>(); // both groups have written

            float dq[D / 4]; // 64 queries, the group's half of the columns
            const unsigned long long a = wgmma_tile_across(changes + number % 2 * kChanges, 0);
            const unsigned long long b =
                wgmma_tile_across(keys + (kBoxes == 2 ? group * BN * 128 : group * 64), 0);
            wgmma_fence();
#pragma unroll
            for (int i = 0; i < BN / 16; ++i) { // 16 keys: rows of dS^T and of K
                wgmma_across(dq, a + i * 128, b + i * 128, i > 0);
            }
            wgmma_commit();
            wgmma_wait<0>();
            keep_in_order(dq);
            keep_in_order(dk);
            keep_in_order(dv);
            if (threadIdx.x % 128 == 0) {
                mbarrier_arrive(empty + stage * 8);
                mbarrier_arrive(empty + (STAGES + stage) * 8);
            }
            if (lane == 0) {
                tma_wait_read<0>(); // the sums before have been read
            }
            __syncwarp();
#pragma unroll
            for (int j = 0; j < D / 16; ++j) {
                store_four(my_sums + (j * 32 + lane) * 16, dq + j * 4);
            }
            writes_are_ready();
            __syncwarp();
            if (lane == 0) {
                float *there = sums + (all_heads * tiles + tile) * (BM * D);
                bulk_add(there + warp * (kWarpSums / 4), my_sums, kWarpSums);
                tma_commit();
            }
        }
        if (lane == 0) {
            tma_wait_read<0>(); // shared memory lives as long as it is read
        }

#pragma unroll
        for (int i = 0; i < D / 2; ++i) {
            dk[i] *= scale;
        }
        const size_t at = ((size_t)sequence * tokens + key) * heads + head; // in rows of D
        store_rows(dk, dK + at * D, (size_t)heads * D, key, tokens);
        store_rows(dv, dV + at * D, (size_t)heads * D, key, tokens);
    }
}
