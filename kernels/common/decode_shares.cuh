// Equal shares of the work of a decoding step. Its tiles of 16 keys are counted by sequence, head of
// keys and position, and each block takes as many as the next.

#pragma once

#include "attention.cuh"
#include "decode_mma.cuh"

// createpolicy: lines that are read with it leave the L2 cache first. No key is read twice.
__device__ inline unsigned long long evict_first()
{
    unsigned long long policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}

// cp.async: as cp_async_16, with such a policy.
__device__ inline void copy_once(unsigned to, const void *from, bool valid,
                                 unsigned long long policy)
{
    asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2, %3;" ::"r"(to),
                 "l"(from), "r"(valid ? 16 : 0), "l"(policy)
                 : "memory");
}

__device__ inline int tiles_of(int length)
{
    return (length + kTileKeys - 1) / kTileKeys;
}

// A tile's place, and the length of its sequence.
struct Place {
    int sequence, head, tile, length;

    // Go on to the group, or the sequence, in which the tile is, if `tile` is past the end.
    __device__ void settle(const int *lengths, int sequences, int kv_heads)
    {
        while (sequence < sequences && tile >= tiles_of(length)) {
            tile -= tiles_of(length);
            if (++head == kv_heads) {
                head = 0;
                ++sequence;
                length = sequence < sequences ? lengths[sequence] : 0;
            }
        }
    }
};

// The block's share: tiles first, ..., end - 1 of all, `each` of them or less, and the place of the
// first. Every warp finds it for itself.
struct Share {
    int each, first, end;
    Place begin = {};

    __device__ Share(const int *lengths, int sequences, int kv_heads)
    {
        int lane = threadIdx.x % 32, all = 0;
        for (int s = lane; s < sequences; s += 32) {
            all += tiles_of(lengths[s]) * kv_heads;
        }
#pragma unroll
        for (int distance = 1; distance < 32; distance *= 2) {
            all += __shfl_xor_sync(0xffffffff, all, distance);
        }
        each = (all + gridDim.x - 1) / gridDim.x;
        first = min(all, (int)blockIdx.x * each);
        end = min(all, first + each);
        int before = 0; // tiles of earlier sequences
        for (int s = lane; first < end; s += 32) {
            int length = s < sequences ? lengths[s] : 0;
            int own = tiles_of(length) * kv_heads, until = own;
#pragma unroll
            for (int distance = 1; distance < 32; distance *= 2) {
                int sum = __shfl_up_sync(0xffffffff, until, distance);
                until += lane >= distance ? sum : 0;
            }
            if (unsigned past = __ballot_sync(0xffffffff, before + until > first)) {
                int which = __ffs(past) - 1;
                length = __shfl_sync(0xffffffff, length, which);
                int tile = first - before - __shfl_sync(0xffffffff, until - own, which);
                begin = {s - lane + which, tile / tiles_of(length), tile % tiles_of(length),
                         length};
                break;
            }
            before += __shfl_sync(0xffffffff, until, 31);
        }
    }
};
