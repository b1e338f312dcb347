// What the rungs of attention on wgmma share: a tile's way into shared memory, the online softmax
// on sums as wgmma leaves them, and the way of the output to global memory. sm_90a only.
// A warpgroup has 64 queries. Thread t has of rows 16 (t / 32) + t % 32 / 4 and 8 more, its half 0
// and half 1, the scores s[4 j + 2 half] and the next of the columns 8 j + 2 (t % 4) and the next.

#pragma once

#include <cuda_bf16.h>
#include <math_constants.h>
#include "attention.cuh"
#include "tma.cuh"
#include "tma_tensor.cuh"
#include "wgmma_across.cuh"

#ifndef D
#define D 128 // numbers of a query, a key and a value: 64 or 128
#endif

constexpr int kGroupRows = 64;               // queries of a warpgroup
constexpr int kBoxes = D / 64;               // of a tile: 64 columns are rows of 128 bytes
constexpr int kQueries = kGroupRows * D * 2; // bytes of a warpgroup's queries
constexpr unsigned kWholeWarp = 0xffffffff;

// A tile of kRows tokens of one head, from `token` on, box by box. The arrays are sequences x
// tokens x heads x D; zeros for tokens past the end of a sequence.
template <int kRows>
__device__ inline void load_tile(unsigned to, const TensorMap *from, int head, int token,
                                 int sequence, unsigned barrier)
{
#pragma unroll
    for (int box = 0; box < kBoxes; ++box) {
        tma_load_4(to + box * kRows * 128, from, box * 64, head, token, sequence, barrier);
    }
}

// Starts s = Q K^T for the warpgroup's queries and a tile of kKeys keys, both in boxes of 64
// columns. A box of the queries has kRows rows, of which the warpgroup's 64 begin at `queries`.
template <int kKeys, int kRows = kGroupRows, int kCount>
__device__ inline void start_scores(float (&s)[kCount], unsigned queries, unsigned keys)
{
    static_assert(kCount == kKeys / 2, "64 x kKeys scores for 128 threads");
    const unsigned long long q = wgmma_tile(queries), k = wgmma_tile(keys);
#pragma unroll
    for (int i = 0; i < D / 16; ++i) { // 32 bytes of every row; then the next box, in units of 16
        wgmma_bf16(s, q + i / 4 * kRows * 8 + i % 4 * 2, k + i / 4 * kKeys * 8 + i % 4 * 2, i > 0);
    }
}

// Starts o = P V, plus o where `add`, for weights in registers and a tile of kKeys values.
template <int kKeys>
__device__ inline void start_output(float (&o)[D / 2], const unsigned (&p)[kKeys / 4],
                                    unsigned values, bool add)
{
    const unsigned long long v = wgmma_tile_across(values, kKeys * 128);
#pragma unroll
    for (int i = 0; i < kKeys / 16; ++i) { // 16 keys: rows of V
        wgmma_registers(o, p + i * 4, v + i * 128, add || i > 0);
    }
}

// Scores of keys from `end` on become minus infinity; `first_key` is the tile's first one. With
// kCausal also those of keys past the query, which is number `query` for half 0.
template <bool kCausal, int kCount>
__device__ inline void mask(float (&s)[kCount], int first_key, int end, int query)
{
    const int column = first_key + threadIdx.x % 4 * 2;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
        const int key = column + i / 4 * 8 + i % 2;
        if (key >= end || (kCausal && key > query + i / 2 % 2 * 8)) {
            s[i] = -CUDART_INF_F;
        }
    }
}

// The online softmax of two rows.
struct Softmax {
    float to_log2; // scale times log2 e: weights are powers of 2
    float largest[2] = {-CUDART_INF_F, -CUDART_INF_F}; // of the row's scores so far, without scale
    float sum[2] = {0.0f, 0.0f};                       // of the thread's own weights so far
    float rescale[2];                                  // of all that was summed before these scores

    // Makes weights of scores.
    template <int kCount>
    __device__ void weights(float (&s)[kCount])
    {
        float offset[2];
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            float most = largest[half];
#pragma unroll
            for (int i = half * 2; i < kCount; i += 4) {
                most = fmaxf(most, fmaxf(s[i], s[i + 1]));
            }
            most = fmaxf(most, __shfl_xor_sync(kWholeWarp, most, 1)); // four threads have a row
            most = fmaxf(most, __shfl_xor_sync(kWholeWarp, most, 2));
            offset[half] = most == -CUDART_INF_F ? 0.0f : most * to_log2; // nothing but masked ones
            rescale[half] = exp2_approx(largest[half] * to_log2 - offset[half]);
            largest[half] = most;
            sum[half] *= rescale[half];
        }
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
            s[i] = exp2_approx(s[i] * to_log2 - offset[i / 2 % 2]);
            sum[i / 2 % 2] += s[i];
        }
    }

    __device__ void bring_up_to_date(float (&o)[D / 2]) const
    {
#pragma unroll
        for (int i = 0; i < D / 2; ++i) {
            o[i] *= rescale[i / 2 % 2];
        }
    }

    // Divides by the sums of whole rows, and stores the log of the sum of exponentials for the rows
    // below `end`; `row` is the row of half 0.
    __device__ void finish(float (&o)[D / 2], float *lse, int row, int end)
    {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            float all = sum[half];
            all += __shfl_xor_sync(kWholeWarp, all, 1);
            all += __shfl_xor_sync(kWholeWarp, all, 2);
            rescale[half] = 1.0f / all;
            if (threadIdx.x % 4 == 0 && row + half * 8 < end) {
                lse[row + half * 8] = (largest[half] * to_log2 + log2f(all)) / kLog2E;
            }
        }
        bring_up_to_date(o);
    }
};

// Weights as the first factor of the next product: the sums of 16 columns lie as wgmma takes them.
template <int kCount>
__device__ inline void to_factors(unsigned (&p)[kCount / 2], const float (&s)[kCount])
{
#pragma unroll
    for (int i = 0; i < kCount / 2; ++i) {
        p[i] = bf16_pair(s[2 * i], s[2 * i + 1]);
    }
}

// Stores the thread's part of two rows in bf16; `to` is the output of the row `row` of half 0, a
// row has `stride` elements, and rows from `end` on are not stored.
__device__ inline void store_rows(const float (&o)[D / 2], __nv_bfloat16 *to, size_t stride,
                                  int row, int end)
{
#pragma unroll
    for (int i = 0; i < D / 2; i += 2) {
        const int half = i / 2 % 2, column = i / 4 * 8 + threadIdx.x % 4 * 2;
        if (row + half * 8 < end) {
            *reinterpret_cast<unsigned *>(to + half * 8 * stride + column) =
                bf16_pair(o[i], o[i + 1]);
        }
    }
}

constexpr int GROUPS = 2; // consumer warpgroups
// Registers of a thread after setmaxnreg: together as many as the block was launched with, 168
// each.
constexpr int kConsumerRegisters = 232, kProducerRegisters = 40;

// barrier.sync, barrier.arrive: the barrier 1 + group is the turn of a consumer warpgroup. It waits
// for the 128 threads that pass the turn, and those do not wait.
__device__ inline void wait_for_turn(int group)
{
    asm volatile("barrier.sync %0, 256;" ::"r"(group + 1) : "memory");
}

__device__ inline void pass_turn(int group)
{
    asm volatile("barrier.arrive %0, 256;" ::"r"(group + 1) : "memory");
}

// barrier.sync: of the 128 threads of a consumer warpgroup.
__device__ inline void group_barrier(int group)
{
    asm volatile("barrier.sync %0, 128;" ::"r"(group + 4) : "memory");
}

// cp.async.bulk.tensor: copy the box in shared memory to (channel, column, row, image), as
// tma_store.
__device__ inline void tma_store_4(const TensorMap *to, int channel, int column, int row, int image,
                                   unsigned from)
{
    asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group "
                 "[%0, {%1, %2, %3, %4}], [%5];" ::"l"(to),
                 "r"(channel), "r"(column), "r"(row), "r"(image), "r"(from)
                 : "memory");
}
