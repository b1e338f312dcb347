// y[i] = x[i ^ 1]: every pair of neighbours swaps, by way of `post`. Takes n a multiple of 32.
// i ^ 1 is the other index of the pair: 1 for 0, 0 for 1, 3 for 2, 2 for 3.
// grid n / 32, block 32, dynamic shared 0

extern "C" __global__ void swap_neighbours(const float *x, float *post, float *y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    post[i] = x[i];
    // BUG
    // SOLUTION
    __syncwarp();  // the lanes needn't run in lockstep
    // END
    y[i] = post[i ^ 1];
}
