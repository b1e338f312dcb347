// `steps` steps of smoothing in one launch, as smooth_steps_grid.cu, with a barrier made by hand.
// The idea: one atomic for each block. The word arrived[0] counts blocks without end. Step s is
// over when it shows (s + 1) * gridDim.x. It is 0 before the launch.
// Limit: the barrier, at small n. The grid must be resident at once, and nothing checks that.
// grid (any that is resident at once), block (any), dynamic shared 0

#include <cuda/atomic>

__device__ void wait_for_all_blocks(unsigned *arrived, unsigned wanted)
{
    __syncthreads(); // the block's stores come before thread 0's release
    if (threadIdx.x == 0) {
        cuda::atomic_ref<unsigned, cuda::thread_scope_device> count(*arrived);
        count.fetch_add(1, cuda::memory_order_release);
        while (count.load(cuda::memory_order_acquire) < wanted) {
        }
    }
    __syncthreads(); // the block has what thread 0 acquired
}

extern "C" __global__ void smooth_steps_barrier(float *x, float *y, unsigned *arrived, int n,
                                                int steps)
{
    const int stride = gridDim.x * blockDim.x;
    const int first = blockIdx.x * blockDim.x + threadIdx.x;
    for (int step = 0; step < steps; ++step) {
        for (int i = first; i < n; i += stride) {
            y[i] = (x[max(i - 1, 0)] + x[i] + x[min(i + 1, n - 1)]) / 3.0f;
        }
        float *other = x;
        x = y;
        y = other;
        wait_for_all_blocks(arrived, (step + 1) * gridDim.x);
    }
}
