// total[b] = the sum of all elements up to the end of block b's 128, for n integers: each block adds
// its own sum to the total of the block before, waiting for it. flag[b] says that total[b] is there;
// all are 0 before the launch. Takes any n whose blocks are resident at once.
// grid (ceil(n / 128)), block (128), dynamic shared 0

constexpr int kThreads = 128;

// The sum over the block, in every thread.
__device__ int block_total(int value)
{
    __shared__ int of_warp[kThreads / 32];
    value = __reduce_add_sync(0xffffffff, value);
    if (threadIdx.x % 32 == 0) {
        of_warp[threadIdx.x / 32] = value;
    }
    __syncthreads();
    return of_warp[0] + of_warp[1] + of_warp[2] + of_warp[3];
}

extern "C" __global__ void carry(const int* x, int* total, int* flag, int n)
{
    const int i = blockIdx.x * kThreads + threadIdx.x;
    const int sum = block_total(i < n ? x[i] : 0);

    if (threadIdx.x == 0) {
        int before = 0;
        // BUG
        //| __threadfence();
        // SOLUTION
        // END
        if (blockIdx.x > 0) {
            while (atomicAdd(&flag[blockIdx.x - 1], 0) == 0) {
            }
            // BUG
            // SOLUTION
            __threadfence();  // acquire: no total is read before its flag
            // END
            before = total[blockIdx.x - 1];
        }
        total[blockIdx.x] = before + sum;
        // BUG
        // SOLUTION
        __threadfence();  // release: whoever sees the flag sees the total
        // END
        atomicExch(&flag[blockIdx.x], 1);
        // BUG
        //| __threadfence();
        // SOLUTION
        // END
    }
}
