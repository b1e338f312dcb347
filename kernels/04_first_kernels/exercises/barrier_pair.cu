// y[i] = x[i] + x[i - 1] for n integers, where x[-1] counts as 0. One block of two warps works on a
// piece of 32 after the other: warp 0 loads a piece into `box`, warp 1 adds and stores it. They wait
// for each other at two barriers, `full` and `empty`, of 64 threads each. Takes any n.
// grid (1), block (64), dynamic shared 0

#include <cuda/barrier>
#pragma nv_diag_suppress static_var_with_dynamic_init

extern "C" __global__ void barrier_pair(const int* x, int* y, int n)
{
    __shared__ int box[33];
    __shared__ cuda::barrier<cuda::thread_scope_block> full, empty;
    if (threadIdx.x == 0) {
        init(&full, 64);
        init(&empty, 64);
    }
    __syncthreads();
    // TODO: for each piece: warp 0 waits until the box is empty, fills it, and arrives at `full`;
    // warp 1 waits until it's full, adds and stores, and arrives at `empty`
    // SOLUTION
    const int lane = threadIdx.x % 32;
    for (int first = 0; first < n; first += 32) {
        const int i = first + lane;
        if (threadIdx.x < 32) {
            if (first > 0) {
                empty.arrive_and_wait();
            }
            box[lane + 1] = i < n ? x[i] : 0;
            if (lane == 0) {
                box[0] = first > 0 ? x[i - 1] : 0;
            }
            (void)full.arrive();
        } else {
            full.arrive_and_wait();
            if (i < n) {
                y[i] = box[lane + 1] + box[lane];
            }
            if (first + 32 < n) {
                (void)empty.arrive();
            }
        }
    }
    // END
}
