// Copies of whole arrays to shared memory, which one thread starts.

#pragma once

#include "ptx.cuh"
#include "tma.cuh"

// cp.async.bulk: copy `bytes`, a multiple of 16 as both addresses are; they count towards the
// barrier.
__device__ inline void bulk_load(void *to, const void *from, int bytes, unsigned barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" ::"r"(shared_address(to)),
                 "l"(from), "r"(bytes), "r"(barrier)
                 : "memory");
}
