// One reading of a row for its k largest elements: elements below a bound are dropped as they come.

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

// A part of a row, as the threads of a block see it: elements are counted from a multiple of 16
// bytes on, and those of the part are begin <= i < end. A stage is four elements for each thread.
struct Part {
    const float *from;
    int begin, end;

    __device__ bool has(int i) const { return begin <= i && i < end; }
};

// A lower bound for the k-th largest: each thread gives kGroups groups of its elements, of each the
// largest. k of those reach it, so at least k elements do.
template <int kThreads, int kGroups>
__device__ inline Pair first_bound(const float4 *slots, Part part, int k, Room &room)
{
    unsigned largest[kGroups] = {};
    bool inside = part.begin == 0 && 4 * kThreads * kSampled <= part.end;
#pragma unroll
    for (int stage = 0; stage < kSampled; ++stage) {
        float4 four = slots[stage * kThreads];
        const float each[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            unsigned &group = largest[(4 * stage + j) % kGroups];
            if (inside || part.has(first_of_group<kThreads>(stage) + j)) {
                group = max(group, order_at_least(each[j]));
            }
        }
    }
    Pair pairs[kGroups];
#pragma unroll
    for (int group = 0; group < kGroups; ++group) {
        pairs[group] = Pair(largest[group]) << 32;
    }
    return reached_by<kThreads, 32>(pairs, k, k / 16 + 3, room);
}

// Begin to copy the turn that begins with stage `first`, to slots from the shared address `to` on,
// zeros for elements outside the part.
template <int kThreads>
__device__ inline void fetch_turn(Part part, int first, bool inside, unsigned to)
{
    constexpr int kStageBytes = 16 * kThreads;
    if (inside) {
        const float *from = part.from + first_of_group<kThreads>(first);
#pragma unroll
        for (int s = 0; s < kTurn; ++s) {
            cp_async_16(to + s * kStageBytes, from + 4 * s * kThreads);
        }
        return;
    }
#pragma unroll 1
    for (int s = 0; s < kTurn; ++s) {
        int i = first_of_group<kThreads>(first + s);
        if (part.has(i) && part.has(i + 3)) {
            cp_async_16(to + s * kStageBytes, part.from + i);
            continue;
        }
        for (int j = 0; j < 4; ++j) { // an end of the part, or past it
            bool exists = part.has(i + j);
            int at = exists ? i + j : part.begin;
            cp_async_4(to + s * kStageBytes + 4 * j, part.from + at, exists);
        }
    }
}

// Among the candidates are then the k largest of `length` floats at `row_part`, the first of which
// has the index first_index. Returns a pair that those k reach. room is clear, and no barrier need
// have come after.
template <int kThreads, int kGroups>
__device__ inline Pair stream(const float *row_part, int length, int first_index, int k,
                              float4 *ring, Pair *kept, Room &room)
{
    constexpr int kTurnElements = 4 * kTurn * kThreads;
    int begin = past_aligned(row_part);
    Part part = {row_part - begin, begin, begin + length};
    int stages = (part.end + kTurnElements - 1) / kTurnElements * kTurn;
    float4 *slots = ring + threadIdx.x; // a thread reads its own copies
    unsigned slots_address = shared_address(slots);
    auto inside = [&](int first) {
        return 4 * kThreads * first >= begin && 4 * kThreads * (first + kTurn) <= part.end;
    };
    auto fetch = [&](int first) {
        if (first < max(stages, kSampled)) {
            unsigned to = slots_address + first % kStages * 16 * kThreads;
            fetch_turn<kThreads>(part, first, inside(first), to);
        }
        cp_async_commit();
    };
    for (int stage = 0; stage < kStages; stage += kTurn) {
        fetch(stage);
    }
    cp_async_wait<(kStages - kSampled) / kTurn>();
    __syncthreads(); // the room is clear
    Pair bound = first_bound<kThreads, kGroups>(slots, part, k, room);
    for (int first = 0; first < stages; first += kTurn) {
        cp_async_wait<kStages / kTurn - 1>(); // the oldest turn is here
        const float4 *oldest = slots + first % kStages * kThreads;
        float least = float_of(order_in(bound)); // NaN where every element may pass
        float each[4 * kTurn];
        bool below = true;
#pragma unroll
        for (int s = 0; s < kTurn; ++s) {
            float4 four = oldest[s * kThreads];
            const float next[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                each[4 * s + j] = next[j];
                below = below && next[j] < least;
            }
        }
        unsigned open = 0; // a bit for each element that may be a candidate
        auto offer = [&] {
            while (__any_sync(kWholeWarp, open != 0)) {
                int e = open ? __ffs(open) - 1 : 0;
                int i = first_of_group<kThreads>(first + e / 4) + e % 4;
                float x = reinterpret_cast<const float *>(&oldest[e / 4 * kThreads])[e % 4];
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
        if (__any_sync(kWholeWarp, !below)) { // seldom
#pragma unroll
            for (int e = 0; e < 4 * kTurn; ++e) {
                if (!(each[e] < least)) {
                    open |= 1u << e;
                }
            }
            if (!inside(first)) {
                for (int e = 0; e < 4 * kTurn; ++e) {
                    int i = first_of_group<kThreads>(first + e / 4) + e % 4;
                    open &= ~(unsigned(!part.has(i)) << e);
                }
            }
            offer();
        }
        while (__syncthreads_or(open != 0)) { // there was no room for all
            bound = make_room<kThreads, kOwn>(kept, k, room);
            offer();
        }
        fetch(first + kStages);
    }
    return bound;
}
