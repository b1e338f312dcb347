// Copies of a run of bytes by the Tensor Memory Accelerator (TMA), with no tensor map. sm_90 and
// later.

#pragma once

// cp.async.bulk: copy bytes from global to shared memory, all multiples of 16. They count towards
// the barrier.
__device__ inline void bulk_load(unsigned to, const void *from, int bytes, unsigned barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" ::"r"(to),
                 "l"(from), "r"(bytes), "r"(barrier)
                 : "memory");
}

// cp.reduce.async.bulk: add floats in shared memory to those in global memory, as an atomic for
// each. It belongs to the groups of tma_commit.
__device__ inline void bulk_add(float *to, unsigned from, int bytes)
{
    asm volatile(
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(to),
        "r"(from), "r"(bytes)
        : "memory");
}
