// Blocks that share a tile of a product: which of them adds up the partial sums of all.

#pragma once

// Whether this block is the last of `blocks` to arrive at its tile. `*arrived` counts them, and is
// 0 again at the end. All threads call it, once they have stored the block's partial sums: the last
// block then sees those of all others.
__device__ inline bool last_to_arrive(int *arrived, int blocks)
{
    __shared__ bool last;
    __threadfence(); // release: a block that sees the count sees this block's sums
    __syncthreads();
    if (threadIdx.x == 0) {
        last = atomicAdd(arrived, 1) == blocks - 1;
        __threadfence(); // acquire: the sums of the blocks counted are seen
        if (last) {
            *arrived = 0; // ready for the next launch
        }
    }
    __syncthreads();
    return last;
}
