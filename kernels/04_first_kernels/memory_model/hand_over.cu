// y[i] = 2 * x[i] + 1 for n numbers, in two blocks: block 0 doubles and leaves its results in `box`,
// block 1 waits for them and adds 1. flag[0] is 0 before the launch.
// The idea: message passing. The store of the flag releases what block 0 has written, the load that
// finds it acquires that. Orders and scope come with -D, so that wrong ones can be tried.
// Limit: two blocks, one word that is polled. n is at most the size of a block.
// grid (2), block (n rounded up to 32), dynamic shared 0

#include <cuda/atomic>

#ifndef STORE_ORDER
#define STORE_ORDER cuda::memory_order_release
#endif
#ifndef LOAD_ORDER
#define LOAD_ORDER cuda::memory_order_acquire
#endif
#ifndef SCOPE
#define SCOPE cuda::thread_scope_device
#endif

extern "C" __global__ void hand_over(const int *x, int *box, int *flag, int *y, int n)
{
    cuda::atomic_ref<int, SCOPE> ready(*flag);
    const int i = threadIdx.x;
    if (blockIdx.x == 0) {
        if (i < n) box[i] = 2 * x[i];
        __syncthreads();                             // the block has written
        if (i == 0) ready.store(1, STORE_ORDER);     // and hands it over
    } else {
        if (i == 0) {
            while (ready.load(LOAD_ORDER) == 0) {    // thread 0 takes it
            }
        }
        __syncthreads();                             // for the whole block
        if (i < n) y[i] = box[i] + 1;
    }
}
