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

#ifndef TURN
#define TURN 2 // stages between two barriers
#endif
#ifndef OWN
#define OWN 4 // candidates for which a thread has room
#endif

constexpr int kStages = STAGES, kSampled = SAMPLED, kTurn = TURN, kOwn = OWN;
static_assert(kSampled <= kStages && kSampled % kTurn == 0 && kStages % kTurn == 0, "whole turns");

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
    return reached_by<kThreads, 32>(largest, k, k / 16 + 3, room);
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
    int stages = (end + 4 * kTurn * kThreads - 1) / (4 * kTurn * kThreads) * kTurn;
    const float *from = part - begin;
    auto four_of = [&](int stage) -> float4 & {
        return ring[stage % kStages * kThreads + threadIdx.x];
    };
    auto fetch_turn = [&](int first) {
        for (int stage = first; stage < first + kTurn; ++stage) {
            int i = first_of_group<kThreads>(stage);
            unsigned to = shared_address(&four_of(stage));
            if (begin <= i && i + 4 <= end) {
                cp_async_16(to, from + i);
            } else if (stage < max(stages, kSampled)) { // an end of the part, or past it: zeros
                for (int j = 0; j < 4; ++j) {
                    bool exists = begin <= i + j && i + j < end;
                    cp_async_4(to + 4 * j, exists ? from + i + j : part, exists);
                }
            }
        }
        cp_async_commit();
    };
    for (int stage = 0; stage < kStages; stage += kTurn) {
        fetch_turn(stage);
    }
    cp_async_wait<(kStages - kSampled) / kTurn>();
    __syncthreads(); // the room is clear
    Pair bound = first_bound<kThreads, kGroups>(ring, begin, end, k, room);
    for (int first = 0; first < stages; first += kTurn) {
        cp_async_wait<kStages / kTurn - 1>();    // the oldest turn; a thread reads what it copied
        float least = float_of(order_in(bound)); // NaN where every element may pass
        float each[4 * kTurn];
        bool below = true;
#pragma unroll
        for (int s = 0; s < kTurn; ++s) {
            float4 four = four_of(first + s);
            const float next[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                each[4 * s + j] = next[j];
                below = below && next[j] < least;
            }
        }
        unsigned open = 0;                    // a bit for each element that may be a candidate
        if (__any_sync(kWholeWarp, !below)) { // seldom
#pragma unroll
            for (int e = 0; e < 4 * kTurn; ++e) {
                int i = first_of_group<kThreads>(first + e / 4) + e % 4;
                open |= unsigned(!(each[e] < least) && begin <= i && i < end) << e;
            }
        }
        auto offer = [&] {
            while (__any_sync(kWholeWarp, open != 0)) {
                int e = open ? __ffs(open) - 1 : 0;
                int i = first_of_group<kThreads>(first + e / 4) + e % 4;
                float x = reinterpret_cast<const float *>(&four_of(first + e / 4))[e % 4];
                Pair pair = pair_of(x, first_index + i - begin);
                bool wants = open && pair >= bound;
                bool done = add(wants, pair, kept, kThreads * kOwn, &room.count);
                if (done) {
                    open &= open - 1; // without its lowest bit
                }
                if (!__all_sync(kWholeWarp, done)) {
                    return;
                }
            }
        };
        offer();
        while (__syncthreads_or(open != 0)) { // there was no room for all
            bound = make_room<kThreads, kOwn>(kept, k, room);
            offer();
        }
        fetch_turn(first + kStages);
    }
    return bound;
}
