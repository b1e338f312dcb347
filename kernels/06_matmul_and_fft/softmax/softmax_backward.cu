// The gradient of softmax: dx = y (dy - sum of dy y over the row), rows x columns of fp32; y is what
// softmax gave. columns is at most 4 * THREADS * GROUPS; the arrays begin at multiples of 16 bytes.
// The idea: as softmax_vector.cu does, the row's y and dy stay in registers, each read once.
// Limit: memory bandwidth. Two reads and one write for each element.
// grid (rows), block (THREADS), dynamic shared 0

#include "row_part.cuh"
#include "reduce.cuh"

#ifndef THREADS
#define THREADS 256
#endif
#ifndef GROUPS
#define GROUPS 4 // of four elements that a thread keeps, of y and of dy
#endif

extern "C" __global__ void __launch_bounds__(THREADS)
    softmax_backward(const float *y, const float *dy, float *dx, int columns)
{
    __shared__ float total;
    long long start = (long long)blockIdx.x * columns;
    bool fours = columns % 4 == 0; // then every row begins at a multiple of 16 bytes
    float part[GROUPS][4];
    float part_dy[GROUPS][4];
    load_part<THREADS>(part, y + start, columns, fours, 0.0f);
    load_part<THREADS>(part_dy, dy + start, columns, fours, 0.0f);

    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < GROUPS; ++k) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            sum += part[k][j] * part_dy[k][j];
        }
    }
    sum = block_sum<THREADS>(sum);
    if (threadIdx.x == 0) {
        total = sum;
    }
    __syncthreads(); // the sum is there for every warp
    sum = total;
#pragma unroll
    for (int k = 0; k < GROUPS; ++k) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            part[k][j] *= part_dy[k][j] - sum;
        }
    }
    store_part<THREADS>(dx + start, part, columns, fours);
}
