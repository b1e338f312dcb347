// y = x transposed, in fp32: x is rows x columns, y is columns x rows, and columns is a multiple of
// four. The tensor map of x has boxes of 32 x 32, without a swizzle, and zeros past the edges. A
// block takes one box: it comes by a single TMA load, and y is written 32 neighbours at a time.
// "ptx.cuh" has shared_address, "tma.cuh" TensorMap, tma_load and the mbarriers. The kernel is
//     extern "C" __global__ void own_box(const __grid_constant__ TensorMap x, float *y, int rows,
//                                        int columns)
// grid (ceil(columns / 32), ceil(rows / 32)), block (256), dynamic shared 0

// TODO: the whole kernel, with its two headers
// SOLUTION
#include "ptx.cuh"
#include "tma.cuh"

constexpr int kSide = 32;

extern "C" __global__ void own_box(const __grid_constant__ TensorMap x, float *y, int rows,
                                   int columns)
{
    __shared__ __align__(128) float tile[kSide][kSide];
    __shared__ unsigned long long arrived;
    const unsigned barrier = shared_address(&arrived);
    const int first_row = blockIdx.y * kSide, first_column = blockIdx.x * kSide;
    if (threadIdx.x == 0) {
        mbarrier_init(barrier, 1);
        mbarriers_are_ready();
        mbarrier_expect(barrier, sizeof(tile));
        tma_load(shared_address(tile), &x, first_column, first_row, barrier);
    }
    __syncthreads(); // the barrier is there
    mbarrier_wait(barrier, 0);
    for (int i = threadIdx.x; i < kSide * kSide; i += blockDim.x) {
        const int row = first_row + i % kSide, column = first_column + i / kSide;
        if (row < rows && column < columns) {
            y[(size_t)column * rows + row] = tile[i % kSide][i / kSide];
        }
    }
}
// END
