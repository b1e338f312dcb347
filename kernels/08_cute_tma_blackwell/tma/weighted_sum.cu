// y += the sum of weight[b] * x[b] over all b: x is images x rows x columns, y rows x columns,
// fp32, for columns a multiple of four. The map of x has boxes of 1 x 16 x 32, that of y of 16 x
// 32.
// Adds to box_copied the way back: threads scale the box, and TMA adds it to y, as an atomic would.
// Limit: the additions, which meet in one place of y for each image.
// grid (ceil(columns / 32), ceil(rows / 16), images), block (128), dynamic shared 0

#include "ptx.cuh"
#include "tma_store.cuh"
#include "tma_tensor.cuh"

constexpr int kRows = 16, kColumns = 32;

extern "C" __global__ void weighted_sum(const __grid_constant__ TensorMap x, const float *weight,
                                        const __grid_constant__ TensorMap y)
{
    __shared__ __align__(128) float tile[kRows * kColumns];
    __shared__ unsigned long long arrived;
    const unsigned barrier = shared_address(&arrived);
    const int column = blockIdx.x * kColumns, row = blockIdx.y * kRows, image = blockIdx.z;
    if (threadIdx.x == 0) {
        mbarrier_init(barrier, 1);
        mbarriers_are_ready();
        mbarrier_expect(barrier, sizeof(tile));
        tma_load_3(shared_address(tile), &x, column, row, image, barrier);
    }
    __syncthreads();
    mbarrier_wait(barrier, 0);
    for (int i = threadIdx.x; i < kRows * kColumns; i += blockDim.x) {
        tile[i] *= weight[image];
    }
    writes_are_ready(); // for the asynchronous proxy, by every thread that wrote
    __syncthreads();
    if (threadIdx.x == 0) {
        tma_add(&y, column, row, shared_address(tile));
        tma_commit();
        tma_wait_read<0>();
    }
}
