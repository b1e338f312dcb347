// Copies by the Tensor Memory Accelerator (TMA) out of shared memory. They complete in groups,
// as those of cp.async, and only the thread that issued them can wait. sm_90 and later.

#pragma once

#include "tma.cuh"

// fence.proxy.async: the writes of this thread to shared memory are visible to TMA. Every thread
// that wrote executes it, before the barrier that lets one thread start the copy.
__device__ inline void writes_are_ready()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// cp.async.bulk.tensor: copy the box in shared memory to (column, row) of a matrix, without
// the elements outside it.
__device__ inline void tma_store(const TensorMap *to, int column, int row, unsigned from)
{
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(
            to),
        "r"(column), "r"(row), "r"(from)
        : "memory");
}

// cp.reduce.async.bulk.tensor: add the box to the values there, as an atomic for each element.
__device__ inline void tma_add(const TensorMap *to, int column, int row, unsigned from)
{
    asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group "
                 "[%0, {%1, %2}], [%3];" ::"l"(to),
                 "r"(column), "r"(row), "r"(from)
                 : "memory");
}

// cp.async.bulk.commit_group: the thread's copies since the last call are a group.
__device__ inline void tma_commit()
{
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// cp.async.bulk.wait_group.read: until all groups but the last kPending have been read from shared
// memory, which may be written again then. Their writes need not be visible yet.
template <int kPending>
__device__ inline void tma_wait_read()
{
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}

// cp.async.bulk.wait_group: until all groups but the last kPending have been written as well.
template <int kPending>
__device__ inline void tma_wait()
{
    asm volatile("cp.async.bulk.wait_group %0;" ::"n"(kPending) : "memory");
}
