// Copies by the Tensor Memory Accelerator (TMA) of boxes of tensors with more than two dimensions.

#pragma once

#include "tma.cuh"

// cp.async.bulk.tensor: the box at (column, row, plane) to shared memory; as tma_load of tma.cuh.
__device__ inline void tma_load_3(unsigned to, const TensorMap *from, int column, int row,
                                  int plane, unsigned barrier)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to),
                 "l"(from), "r"(column), "r"(row), "r"(plane), "r"(barrier)
                 : "memory");
}

// cp.async.bulk.tensor: the box at (channel, column, row, image) of images with channels last.
__device__ inline void tma_load_4(unsigned to, const TensorMap *from, int channel, int column,
                                  int row, int image, unsigned barrier)
{
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(to),
                 "l"(from), "r"(channel), "r"(column), "r"(row), "r"(image), "r"(barrier)
                 : "memory");
}
