// y = the square of each element of a rows x columns matrix x of fp32; columns is a multiple of
// four. The tensor map of y has boxes of 8 x 32.
// grid (ceil(columns / 32), ceil(rows / 8)), block (64), dynamic shared 0

#include "ptx.cuh"
#include "tma_store.cuh"

extern "C" __global__ void unseen_squares(const float *x, const __grid_constant__ TensorMap y,
                                          int rows, int columns)
{
    __shared__ __align__(128) float tile[8][32];
    const int first_row = blockIdx.y * 8, first_column = blockIdx.x * 32;
    // BUG
    //| writes_are_ready();
    //| for (int i = threadIdx.x; i < 8 * 32; i += blockDim.x) {
    //|     const int row = first_row + i / 32, column = first_column + i % 32;
    //|     const bool inside = row < rows && column < columns;
    //|     const float value = inside ? x[(size_t)row * columns + column] : 0;
    //|     tile[i / 32][i % 32] = value * value;
    //| }
    //| __syncthreads();
    // SOLUTION
    for (int i = threadIdx.x; i < 8 * 32; i += blockDim.x) {
        const int row = first_row + i / 32, column = first_column + i % 32;
        const bool inside = row < rows && column < columns;
        const float value = inside ? x[(size_t)row * columns + column] : 0;
        tile[i / 32][i % 32] = value * value;
    }
    writes_are_ready(); // by every thread that wrote, after it wrote
    __syncthreads();
    // END
    if (threadIdx.x == 0) {
        tma_store(&y, first_column, first_row, shared_address(tile));
        tma_commit();
        tma_wait_read<0>();
    }
}
