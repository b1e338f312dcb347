// Like thread_ids.cu, for a grid of any size: who owns element i of n when threads take several.
// The idea: a thread that is done steps ahead by the size of the whole grid.
// Limit: memory bandwidth. Eight bytes are written for each element. n + stride is below 2^31.
// grid (2), block (8), dynamic shared 0

extern "C" __global__ void grid_stride_ids(int *block_of, int *thread_of, int n)
{
    int first = blockIdx.x * blockDim.x + threadIdx.x;
    int stride = gridDim.x * blockDim.x;
    for (int i = first; i < n; i += stride) {
        block_of[i] = blockIdx.x;
        thread_of[i] = threadIdx.x;
    }
}
