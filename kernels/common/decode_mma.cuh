// Attention of a new token's queries against cached keys and values on tensor cores. Up to eight
// queries that share the keys are rows of one mma tile, and its other eight rows stay 0. A warp
// takes 16 keys at a time and keeps its online softmax. Fragments come straight from global
// memory, a tile ahead.

#pragma once

#include "attention.cuh"
#include "decode.cuh"

constexpr int kTileKeys = 16; // of a warp at a time

// mma.m16n8k16 for the upper eight rows: o += a b, where rows 8 to 15 of a are 0.
__device__ inline void mma_upper(float (&o)[2], unsigned a0, unsigned a2, unsigned b0, unsigned b1)
{
    float unused_2, unused_3;
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0, %1, %2, %3}, {%4, %6, %5, %6}, {%7, %8}, {%0, %1, %9, %9};"
                 : "+f"(o[0]), "+f"(o[1]), "=f"(unused_2), "=f"(unused_3)
                 : "r"(a0), "r"(a2), "r"(0), "r"(b0), "r"(b1), "f"(0.0f));
}

// The same number of two rows of bf16 in one register.
__device__ inline unsigned same_number(uint4 upper, uint4 lower, int i)
{
    const unsigned first[4] = {upper.x, upper.y, upper.z, upper.w};
    const unsigned second[4] = {lower.x, lower.y, lower.z, lower.w};
    return __byte_perm(first[i / 2], second[i / 2], i % 2 ? 0x7632 : 0x5410);
}

// As attend in decode.cuh. Lane l has query l / 4. A sum over the 128 numbers may take them in any
// order, so lane l reads whole chunks of row l / 4 of the tile: l % 4, and 4, 8 and 12 further. For
// the second product it reads chunks l / 4 and 8 further of the keys whose weights it has.
template <int kGroup, typename RowOf>
__device__ void attend_mma(Softmax<1> (&whole)[kGroup], const uint4 *q, const uint4 *K,
                           const uint4 *V, RowOf row_of, int first, int end, float scale)
{
    static_assert(kGroup <= 8, "the queries of a group are rows of one tile");
    __shared__ WarpSums<kGroup> warps;
    int warp = threadIdx.x / 32, row = threadIdx.x % 32 / 4, column = threadIdx.x % 4;
    uint4 query[4] = {};
    if (row < kGroup) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            query[i] = q[row * kChunks + column + 4 * i];
        }
    }
    float largest = -CUDART_INF_F, sum = 0.0f, o[16][2] = {};
    auto load = [&](uint4(&key)[2][4], uint4(&value)[4][2], int tile) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            int token = tile + 8 * half + row;
            const uint4 *from = K + row_of(token < end ? token : tile) * kChunks + column;
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                key[half][i] = from[4 * i];
            }
        }
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            int token = tile + 8 * (i / 2) + 2 * column + i % 2;
            const uint4 *from = V + row_of(token < end ? token : tile) * kChunks + row;
            value[i][0] = from[0];
            value[i][1] = from[8];
        }
    };
    constexpr int kStep = kDecodeWarps * kTileKeys;
    int begin = first + warp * kTileKeys;
    uint4 next_key[2][4], next_value[4][2]; // on their way while the tile before is computed
    if (begin < end) {
        load(next_key, next_value, begin);
    }
    for (int tile = begin; tile < end; tile += kStep) {
        uint4 key[2][4], value[4][2];
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            key[i / 4][i % 4] = next_key[i / 4][i % 4];
            value[i / 2][i % 2] = next_value[i / 2][i % 2];
        }
        if (tile + kStep < end) {
            load(next_key, next_value, tile + kStep);
        }

        float score[2][2] = {}; // of keys 8 half + 2 column and the next one
        float tile_largest = -CUDART_INF_F;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                uint4 a = query[i], b = key[half][i];
                mma_upper(score[half], a.x, a.y, b.x, b.y);
                mma_upper(score[half], a.z, a.w, b.z, b.w);
            }
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                bool exists = tile + 8 * half + 2 * column + i < end;
                score[half][i] = exists ? score[half][i] * scale : -CUDART_INF_F;
                tile_largest = fmaxf(tile_largest, score[half][i]);
            }
        }
        tile_largest = fmaxf(tile_largest, __shfl_xor_sync(0xffffffff, tile_largest, 1));
        tile_largest = fmaxf(tile_largest, __shfl_xor_sync(0xffffffff, tile_largest, 2));
        float new_largest = fmaxf(largest, tile_largest); // finite: the tile's first key exists
        float rescale = __expf(largest - new_largest);
        largest = new_largest;
        sum *= rescale;
#pragma unroll
        for (int t = 0; t < 16; ++t) {
            o[t][0] *= rescale;
            o[t][1] *= rescale;
        }
        unsigned weights[2];
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            float left = __expf(score[half][0] - largest), right = __expf(score[half][1] - largest);
            sum += left + right;
            weights[half] = bf16_pair(left, right);
        }
#pragma unroll
        for (int t = 0; t < 16; ++t) { // numbers 64 (t / 8) + 8 n + t % 8 of the values
            unsigned upper = same_number(value[0][t / 8], value[1][t / 8], t % 8);
            unsigned lower = same_number(value[2][t / 8], value[3][t / 8], t % 8);
            mma_upper(o[t], weights[0], weights[1], upper, lower);
        }
    }

    sum += __shfl_xor_sync(0xffffffff, sum, 1);
    sum += __shfl_xor_sync(0xffffffff, sum, 2);
    if (row < kGroup) {
#pragma unroll
        for (int t = 0; t < 16; ++t) {
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                warps.o[row][warp][64 * (t / 8) + 8 * (2 * column + i) + t % 8] = o[t][i];
            }
        }
        if (column == 0) {
            warps.largest[row][warp] = largest; // -inf if the warp had no key
            warps.sum[row][warp] = sum;
        }
    }
    warps.merge(whole);
}
