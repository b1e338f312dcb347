// Attention of a new token's query against cached keys and values, rows of 128 bf16 numbers. A team
// of eight lanes takes a key, 16 numbers per lane, and keeps the online softmax of its own keys. At
// the end teams and warps merge. For blocks of kDecodeThreads threads.

#pragma once

#include <math_constants.h>

#include "row_values.cuh"

constexpr int kD = 128;                             // numbers of a query, a key and a value
constexpr int kChunks = kD / kWidth<__nv_bfloat16>; // of 16 bytes in a row
constexpr int kLanes = 8;                           // of a team
constexpr int kMine = kD / kLanes; // numbers of a lane: chunks `member` and 8 further
constexpr int kDecodeThreads = 128;
constexpr int kTeams = kDecodeThreads / kLanes;
constexpr int kDecodeWarps = kDecodeThreads / 32;
constexpr int kAtOnce = 2; // keys of a team whose loads are on their way together

// A softmax over some keys, for one query: the largest score, the sum of exp(score - largest), and
// the same sum with the values as factors, kNumbers of them in this thread.
template <int kNumbers>
struct Softmax {
    float largest = -CUDART_INF_F, sum = 0.0f, o[kNumbers] = {};

    // Express the sums relative to a new largest score, which is no smaller.
    __device__ void rescale(float new_largest)
    {
        float factor = largest == -CUDART_INF_F ? 0.0f : __expf(largest - new_largest);
        largest = new_largest;
        sum *= factor;
#pragma unroll
        for (int i = 0; i < kNumbers; ++i) {
            o[i] *= factor;
        }
    }

    // Add the sums that lane `lane ^ distance` has over other keys.
    __device__ void merge_lanes(int distance)
    {
        rescale(fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, distance)));
        sum += __shfl_xor_sync(0xffffffff, sum, distance);
#pragma unroll
        for (int i = 0; i < kNumbers; ++i) {
            o[i] += __shfl_xor_sync(0xffffffff, o[i], distance);
        }
    }
};

// A lane's 16 numbers of a row.
__device__ inline void load_mine(float (&numbers)[kMine], const uint4 *row, int member)
{
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        float eight[8];
        unpack(eight, row[member + kLanes * half]);
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            numbers[8 * half + i] = eight[i];
        }
    }
}

// The sums of a block's warps for kGroup queries, in shared memory.
template <int kGroup>
struct WarpSums {
    float o[kGroup][kDecodeWarps][kD], largest[kGroup][kDecodeWarps], sum[kGroup][kDecodeWarps];

    // Number threadIdx.x of each query's sums over all warps, once these are in shared memory.
    __device__ void merge(Softmax<1> (&whole)[kGroup]) const
    {
        __syncthreads(); // the warps' sums are in shared memory
#pragma unroll
        for (int g = 0; g < kGroup; ++g) {
            for (int w = 0; w < kDecodeWarps; ++w) {
                whole[g].rescale(fmaxf(whole[g].largest, largest[g][w]));
                float factor = largest[g][w] == -CUDART_INF_F
                                   ? 0.0f
                                   : __expf(largest[g][w] - whole[g].largest);
                whole[g].sum += factor * sum[g][w];
                whole[g].o[0] += factor * o[g][w][threadIdx.x];
            }
        }
    }
};

// The softmax over keys first, ..., end - 1 of kGroup queries that share them; q has their rows one
// after the other, K and V rows in memory, and row_of(key) is a key's row. The thread gets number
// threadIdx.x of each query's sums, merged over the whole block.
template <int kGroup, typename RowOf>
__device__ void attend(Softmax<1> (&whole)[kGroup], const uint4 *q, const uint4 *K, const uint4 *V,
                       RowOf row_of, int first, int end, float scale)
{
    __shared__ WarpSums<kGroup> warps;
    int member = threadIdx.x % kLanes, team = threadIdx.x / kLanes;
    float query[kGroup][kMine];
    Softmax<kMine> state[kGroup];
#pragma unroll
    for (int g = 0; g < kGroup; ++g) {
        load_mine(query[g], q + g * kChunks, member);
    }
    for (int begin = first; begin < end; begin += kAtOnce * kTeams) {
        float key[kAtOnce][kMine], value[kAtOnce][kMine];
        bool exists[kAtOnce];
#pragma unroll
        for (int a = 0; a < kAtOnce; ++a) {
            int token = begin + a * kTeams + team;
            exists[a] = token < end;
            size_t row = row_of(exists[a] ? token : first) * kChunks;
            load_mine(key[a], K + row, member);
            load_mine(value[a], V + row, member);
        }
#pragma unroll
        for (int g = 0; g < kGroup; ++g) {
            float score[kAtOnce], largest = state[g].largest;
#pragma unroll
            for (int a = 0; a < kAtOnce; ++a) {
                float dot = 0.0f;
#pragma unroll
                for (int i = 0; i < kMine; ++i) {
                    dot = fmaf(query[g][i], key[a][i], dot);
                }
#pragma unroll
                for (int distance = 1; distance < kLanes; distance *= 2) {
                    dot += __shfl_xor_sync(0xffffffff, dot, distance);
                }
                score[a] = exists[a] ? dot * scale : -CUDART_INF_F;
                largest = fmaxf(largest, score[a]);
            }
            state[g].rescale(largest);
#pragma unroll
            for (int a = 0; a < kAtOnce; ++a) {
                float weight = exists[a] ? __expf(score[a] - largest) : 0.0f;
                state[g].sum += weight;
#pragma unroll
                for (int i = 0; i < kMine; ++i) {
                    state[g].o[i] = fmaf(weight, value[a][i], state[g].o[i]);
                }
            }
        }
    }

    // Four teams of a warp, then the warps through shared memory.
    int warp = threadIdx.x / 32;
#pragma unroll
    for (int g = 0; g < kGroup; ++g) {
        state[g].merge_lanes(kLanes);
        state[g].merge_lanes(2 * kLanes);
        if (threadIdx.x % 32 < kLanes) {
#pragma unroll
            for (int i = 0; i < kMine; ++i) {
                warps.o[g][warp][8 * (member + kLanes * (i / 8)) + i % 8] = state[g].o[i];
            }
            warps.largest[g][warp] = state[g].largest; // the same in the team's lanes
            warps.sum[g][warp] = state[g].sum;
        }
    }
    warps.merge(whole);
}

// Store the attention of query number `query`, counted by (sequence, head). With several parts,
// gridDim.z of them, store the part's attention and its log-sum-exp. A part without keys has only
// the latter, -inf.
__device__ inline void store_query(__nv_bfloat16 *O, float *part_O, float *lse, size_t query,
                                   const Softmax<1> &found)
{
    float o = found.sum > 0.0f ? found.o[0] / found.sum : 0.0f;
    if (gridDim.z == 1) {
        O[query * kD + threadIdx.x] = __float2bfloat16(o);
        return;
    }
    size_t row = query * gridDim.z + blockIdx.z;
    if (found.sum > 0.0f) {
        part_O[row * kD + threadIdx.x] = o;
    }
    if (threadIdx.x == 0) {
        lse[row] = found.sum > 0.0f ? found.largest + logf(found.sum) : -CUDART_INF_F;
    }
}
