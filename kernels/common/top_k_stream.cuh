// One reading of a row for its k largest elements: what is below a bound is dropped as it comes.

#pragma once

#include "ptx.cuh"
#include "row_part.cuh"
#include "top_k.cuh"

#ifndef STAGES
#define STAGES 8 // of 16 bytes for each thread, on their way from memory
#endif
#ifndef SAMPLED
#define SAMPLED 4 // stages that the first bound is made of
#endif

constexpr int kStages = STAGES, kSampled = SAMPLED;
constexpr int kOwn = 8;           // candidates for which a thread has room
constexpr int kStageElements = 4; // of a thread

// The most candidates before a stage, so that there is room for all of it.
template <int kThreads>
constexpr int kMostBefore = kThreads * (kOwn - kStageElements);

// A lower bound for the k-th largest: each thread gives kGroups groups of its elements, of each the
// largest. k of those reach it, so at least k elements do.
template <int kThreads, int kGroups>
__device__ inline Pair first_bound(const float4 *ring, int begin, int end, int k, Room &room)
{
    Pair largest[kGroups] = {};
#pragma unroll
    for (int stage = 0; stage < kSampled; ++stage) {
        float4 four = ring[stage * kThreads + threadIdx.x];
        const float each[4] = {four.x, four.y, four.z, four.w};
        int first = first_of_group<kThreads>(stage);
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            Pair &group = largest[(4 * stage + j) % kGroups];
            if (begin <= first + j && first + j < end) {
                group = max(group, Pair(order_of(each[j])) << 32);
            }
        }
    }
    return reached_by<kThreads, 32>(largest, k, k / 4 + 4, room);
}

// Among the candidates are then the k largest of `length` floats at `part`, the first of which has
// the index first_index. Returns a pair that those k reach. room is clear, and no barrier need have
// come after.
template <int kThreads, int kGroups>
__device__ inline Pair stream(const float *part, int length, int first_index, int k, float4 *ring,
                              Pair *kept, Room &room)
{
    int begin = past_aligned(part); // elements are counted from a multiple of 16 bytes on
    int end = begin + length;
    int stages = (end + kStageElements * kThreads - 1) / (kStageElements * kThreads);
    const float *from = part - begin;
    auto fetch = [&](int stage) {
        int i = first_of_group<kThreads>(stage);
        unsigned to = shared_address(&ring[stage % kStages * kThreads + threadIdx.x]);
        if (begin <= i && i + 4 <= end) {
            cp_async_16(to, from + i);
        } else if (stage < max(stages, kSampled)) { // an end of the part, or past it: zeros there
            for (int j = 0; j < 4; ++j) {
                bool exists = begin <= i + j && i + j < end;
                cp_async_4(to + 4 * j, exists ? from + i + j : part, exists);
            }
        }
        cp_async_commit();
    };
#pragma unroll
    for (int stage = 0; stage < kStages; ++stage) {
        fetch(stage);
    }
    cp_async_wait<kStages - kSampled>();
    __syncthreads(); // the room is clear
    Pair bound = first_bound<kThreads, kGroups>(ring, begin, end, k, room);
    for (int stage = 0; stage < stages; ++stage) {
        cp_async_wait<kStages - 1>(); // the oldest stage is here; a thread reads what it copied
        float4 four = ring[stage % kStages * kThreads + threadIdx.x];
        fetch(stage + kStages);
        const float each[4] = {four.x, four.y, four.z, four.w};
        int first = first_of_group<kThreads>(stage);
        float least = float_of(order_in(bound)); // NaN where every element may pass
        bool any = !(each[0] < least && each[1] < least && each[2] < least && each[3] < least);
        int count = 0;
        if (__any_sync(kWholeWarp, any)) { // seldom
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                int i = first + j;
                Pair pair = pair_of(each[j], first_index + i - begin);
                bool wants = begin <= i && i < end && pair >= bound;
                count = max(count, append(wants, pair, kept, &room.count));
            }
        }
        if (__syncthreads_or(count > kMostBefore<kThreads>)) {
            bound = keep_largest<kThreads, kOwn>(kept, k, room);
        }
    }
    return bound;
}
