#pragma once
// A rendezvous of ranks: kernels on several GPUs that read and write each other's memory.

#include <cuda/atomic>

// Blocks of the same number on all ranks wait for each other. A store of any of them before it is
// visible to all of them after it. flags[r] is memory of rank r, at 0 before the first launch: for
// each block a word for each rank, in which that rank writes the turn that it has come to. Turns
// grow. A kernel keeps them from launch to launch in turns[r][block], memory of rank r, 0 at first.
// At most as many ranks as a block has threads, and all grids alike and resident at once.
__device__ inline void meet_ranks(unsigned *const *flags, int rank, int ranks, unsigned turn)
{
    using Flag = cuda::atomic_ref<unsigned, cuda::thread_scope_system>;
    __syncthreads(); // the block has stored
    const int other = threadIdx.x;
    if (other < ranks) {
        Flag theirs(flags[other][blockIdx.x * ranks + rank]);
        theirs.store(turn, cuda::memory_order_release); // one store, over the link
        Flag mine(flags[rank][blockIdx.x * ranks + other]);
        while (static_cast<int>(mine.load(cuda::memory_order_acquire) - turn) < 0) {
        } // polls its own memory. A rank that is ahead has also arrived
    }
    __syncthreads(); // the block has what they acquired
}
