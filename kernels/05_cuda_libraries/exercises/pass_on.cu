// y[0] = x[0], and y[r][i] = x[r][i] + y[r - 1][i - 1], where i = 0 takes the last, for n floats of
// each of the ranks r, two or more: a chain, as the stages of a pipeline are. Each rank waits until
// its box is full, adds its own row, and fills the next box.
// A block stands for a GPU: blockIdx.x is the rank, gridDim.x how many there are. Row r of x, boxes
// and y and flags[r] are memory of rank r. flags is 0 before the launch and 1 after it, except
// for rank 0's.
// grid (ranks, resident at once), block (any), dynamic shared 0

// All threads of the block call both. `flag` of tell is another GPU's memory, that of wait_for is
// this GPU's own. After wait_for a block sees all that the block before stored ahead of its tell.
__device__ void tell(unsigned* flag)
{
    // TODO: the box is full: set the flag
    // SOLUTION
    __syncthreads();  // the block has stored all of the row
    if (threadIdx.x == 0) {
        __threadfence_system();  // release
        atomicExch_system(flag, 1u);
    }
    // END
}

__device__ void wait_for(unsigned* flag)
{
    // TODO: wait until it is set
    // SOLUTION
    if (threadIdx.x == 0) {
        while (atomicAdd_system(flag, 0u) == 0) {
        }
        __threadfence_system();  // acquire
    }
    __syncthreads();  // no thread goes on before thread 0 has seen the flag
    // END
}

extern "C" __global__ void pass_on(
    const float* x, float* boxes, unsigned* flags, float* y, int n)
{
    const int rank = blockIdx.x, ranks = gridDim.x;
    if (rank > 0) wait_for(&flags[rank]);
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const float before = rank > 0 ? boxes[rank * n + i] : 0.0f;
        const float sum = before + x[rank * n + i];
        y[rank * n + i] = sum;
        if (rank < ranks - 1) boxes[(rank + 1) * n + (i + 1) % n] = sum;
    }
    if (rank < ranks - 1) tell(&flags[rank + 1]);
}
