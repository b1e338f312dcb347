// Arrivals at an mbarrier of another block of the cluster. sm_90 and later.

#pragma once

#include "cluster.cuh"

// mbarrier.arrive on shared::cluster: one arrival at a barrier at an address of address_in_block.
__device__ inline void mbarrier_arrive_there(unsigned barrier)
{
    asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(barrier) : "memory");
}
