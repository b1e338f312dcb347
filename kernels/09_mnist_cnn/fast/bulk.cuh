// Copies of whole arrays to shared memory, each started by one thread.

#pragma once

#include "ptx.cuh"
#include "tma.cuh"

// cp.async.bulk: copy `bytes`, a multiple of 16 as both addresses are. They count towards the
// barrier.
__device__ inline void bulk_load(void *to, const void *from, int bytes, unsigned barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" ::"r"(shared_address(to)),
                 "l"(from), "r"(bytes), "r"(barrier)
                 : "memory");
}

// The same from this block's shared memory to an address of address_in_block, where the barrier is.
// Ordinary stores have to be made visible by written_for_copies before.
__device__ inline void bulk_send(unsigned to, unsigned from, int bytes, unsigned barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" ::"r"(to),
                 "r"(from), "r"(bytes), "r"(barrier)
                 : "memory");
}

// fence.proxy.async: copies that begin later see this thread's stores to shared memory.
__device__ inline void written_for_copies()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
