// Copies n fp32 elements: y[i] = x[i], each by way of a word of the block's dynamic shared memory.
// Adds to copy.cu: the launch says how much shared memory a block gets. An SM has 228 KB, so blocks
// that ask for more are fewer at a time, and fewer threads have a load in flight.
// Limit: the shared memory asked for; with little of it, memory.
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
