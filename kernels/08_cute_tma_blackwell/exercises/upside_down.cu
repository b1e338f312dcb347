// y = x with its rows in the opposite order, for a rows x columns matrix of fp32; columns is a
// multiple of four. The tensor map of x has boxes of 8 x 32.
// grid (ceil(columns / 32), ceil(rows / 8)), block (64), dynamic shared 0

#include "ptx.cuh"
#include "tma.cuh"

extern "C" __global__ void upside_down(const __grid_constant__ TensorMap x, float *y, int rows,
                                       int columns)
{
    __shared__ __align__(128) float tile[8][32];
    __shared__ unsigned long long arrived;
    const int first_row = blockIdx.y * 8, first_column = blockIdx.x * 32;
    // TODO: one thread makes the barrier, expects the bytes and starts
    // tma_load(shared_address(tile), &x, column, row, shared_address(&arrived)); then all threads
    // wait for the box
    // SOLUTION
    if (threadIdx.x == 0) {
        mbarrier_init(shared_address(&arrived), 1);
        mbarriers_are_ready();
        mbarrier_expect(shared_address(&arrived), sizeof(tile));
        tma_load(shared_address(tile), &x, first_column, first_row, shared_address(&arrived));
    }
    __syncthreads();
    mbarrier_wait(shared_address(&arrived), 0);
    // END
    for (int i = threadIdx.x; i < 8 * 32; i += blockDim.x) {
        const int row = first_row + i / 32, column = first_column + i % 32;
        if (row < rows && column < columns) {
            y[(size_t)(rows - 1 - row) * columns + column] = tile[i / 32][i % 32];
        }
    }
}
