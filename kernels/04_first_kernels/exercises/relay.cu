// Block 0 squares n integers and hands them to block 1, which adds 1: y[i] = x[i] * x[i] + 1. Both
// count on tally[0] how many of the numbers they handled are even, each thread for itself.
// box and flag are in global memory; flag[0] and tally[0] are 0 before the launch. n is at most 256.
// grid (2), block (256), dynamic shared 0

#include <cuda/atomic>

extern "C" __global__ void relay(const int* x, int* box, int* flag, int* tally, int* y, int n)
{
    // TODO: everything below is right, and everything is stronger than it has to be. Give each of
    // the three kinds of access the weakest order, and both words the narrowest scope, that will do
    // STARTER
    //| cuda::atomic_ref<int, cuda::thread_scope_system> ready(*flag);
    //| cuda::atomic_ref<int, cuda::thread_scope_system> count(*tally);
    //| constexpr auto kCount = cuda::memory_order_seq_cst;
    //| constexpr auto kHandOver = cuda::memory_order_seq_cst;
    //| constexpr auto kTake = cuda::memory_order_seq_cst;
    // SOLUTION
    cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
    cuda::atomic_ref<int, cuda::thread_scope_device> count(*tally);
    constexpr auto kCount = cuda::memory_order_relaxed;
    constexpr auto kHandOver = cuda::memory_order_release;
    constexpr auto kTake = cuda::memory_order_acquire;
    // END
    const int i = threadIdx.x;
    int number = 1;
    if (blockIdx.x == 0) {
        if (i < n) {
            number = x[i] * x[i];
            box[i] = number;
        }
        __syncthreads();
        if (i == 0) {
            ready.store(1, kHandOver);
        }
    } else {
        if (i == 0) {
            while (ready.load(kTake) == 0) {
            }
        }
        __syncthreads();
        if (i < n) {
            number = box[i] + 1;
            y[i] = number;
        }
    }
    if (i < n && number % 2 == 0) {
        count.fetch_add(1, kCount);
    }
}
