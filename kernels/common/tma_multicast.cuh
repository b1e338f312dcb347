// One TMA load for several blocks of a cluster. sm_90 and later.

#pragma once

#include "cluster.cuh"
#include "tma.cuh"

// cp.async.bulk.tensor with .multicast::cluster: the box at (column, row) to the same place in
// shared memory of each block whose bit is set in `blocks`. In each of them the bytes count towards
// the mbarrier at the address that `barrier` has in this block.
__device__ inline void tma_load_multicast(unsigned to, const TensorMap *from, int column, int row,
                                          unsigned barrier, unsigned short blocks)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
                 "l"(from), "r"(column), "r"(row), "r"(barrier), "h"(blocks)
                 : "memory");
}
