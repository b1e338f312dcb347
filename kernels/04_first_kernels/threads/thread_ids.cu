// Who writes what: block_of[i] and thread_of[i] say which thread owns element i of n.
// The idea: block and thread together make one number, the global index, and it is unique.
// Limit: memory bandwidth. Eight bytes are written for each element, little is computed.
// grid (ceil(n / 8)), block (8), dynamic shared 0

extern "C" __global__ void thread_ids(int *block_of, int *thread_of, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        block_of[i] = blockIdx.x;
        thread_of[i] = threadIdx.x;
    }
}
