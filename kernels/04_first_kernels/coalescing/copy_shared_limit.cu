// Copies n fp32 elements: y[i] = x[i], each by way of a word of the block's dynamic shared memory.
// Adds to copy.cu: the launch says how much shared memory a block gets. The more,
// the fewer blocks are resident on an SM, and the fewer threads have a load in flight.
// Limit: bytes in flight, which fall with the number of resident blocks.
// grid (ceil(n / 256)), block (256), dynamic shared 1024 or more

extern "C" __global__ void copy_shared_limit(const float *x, float *y, int n)
{
    extern __shared__ float word_of_thread[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        word_of_thread[threadIdx.x] = x[i];
        y[i] = word_of_thread[threadIdx.x];
    }
}
