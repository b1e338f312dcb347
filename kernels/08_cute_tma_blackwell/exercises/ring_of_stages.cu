// y[i] is the sum of x[i], x[n + i], x[2 n + i] and so on, of `steps` rows of n floats; n is a multiple of
// 128. A block has 128 columns, and its rows come through a ring of three stages in shared memory, by
// cp.async, 16 bytes a copy: warp 0 copies, and every thread adds.
// grid (n / 128), block 128, dynamic shared 0

#include "ptx.cuh"

constexpr int kStages = 3;

extern "C" __global__ void ring_of_stages(const float *x, float *y, int n, int steps)
{
    __shared__ __align__(16) float ring[kStages][128];
    const int t = threadIdx.x;
    const float *from = x + blockIdx.x * 128;
    auto fetch = [&](int step) {
        if (step < steps && t < 32) {
            cp_async_16(shared_address(&ring[step % kStages][t * 4]), from + (size_t)step * n + t * 4);
        }
        cp_async_commit();
    };
    for (int step = 0; step < kStages - 1; ++step) {
        fetch(step);
    }
    float sum = 0.0f;
    for (int step = 0; step < steps; ++step) {
        // BUG
        //| fetch(step + kStages - 1);
        //| cp_async_wait<kStages - 1>(); // this step's row is there
        //| __syncthreads();
        // SOLUTION
        cp_async_wait<kStages - 2>(); // this step's row is there
        __syncthreads();              // for everybody, and all have added the row before
        fetch(step + kStages - 1);    // into the stage of that row
        // END
        sum += ring[step % kStages][t];
    }
    y[blockIdx.x * 128 + t] = sum;
}
