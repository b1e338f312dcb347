// Thin wrappers for clusters of blocks, one PTX instruction each, named after the section of the
// PTX manual it is in. sm_90 and later.

#pragma once

// %cluster_ctarank: the rank of the block in its cluster.
__device__ inline int cluster_rank()
{
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

// barrier.cluster.arrive: the thread's writes so far are visible to threads that wait. The arrival
// itself waits for them, also for those to global memory.
__device__ inline void cluster_arrive()
{
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}

// barrier.cluster.arrive.relaxed: an arrival that does not release the thread's writes.
__device__ inline void cluster_arrive_relaxed()
{
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}

// barrier.cluster.wait: until every thread of the cluster has arrived.
__device__ inline void cluster_wait()
{
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// mapa: the address in block `rank` of the cluster that matches a shared address of this block.
__device__ inline unsigned address_in_block(unsigned address, int rank)
{
    unsigned there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
    return there;
}

// st.shared::cluster: two floats to an address of address_in_block that is a multiple of 8.
__device__ inline void store_cluster_2(unsigned to, float first, float second)
{
    asm volatile("st.shared::cluster.v2.f32 [%0], {%1, %2};" ::"r"(to), "f"(first), "f"(second)
                 : "memory");
}

// st.async: a float to an address of address_in_block. Its 4 bytes count towards an mbarrier of the
// block that they go to.
__device__ inline void store_async(unsigned to, float value, unsigned barrier)
{
    asm volatile(
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.f32 [%0], %1, [%2];" ::"r"(to),
        "f"(value), "r"(barrier)
        : "memory");
}

// st.async: two floats, to a multiple of 8.
__device__ inline void store_async_2(unsigned to, float first, float second, unsigned barrier)
{
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.f32 [%0], {%1, %2}, "
                 "[%3];" ::"r"(to),
                 "f"(first), "f"(second), "r"(barrier)
                 : "memory");
}
