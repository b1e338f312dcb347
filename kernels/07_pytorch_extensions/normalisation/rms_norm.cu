// y = x * rstd * gamma for each row of x, rows x columns of ELEMENT, float or bf16, where rstd is
// 1 / sqrt(mean of the squares + eps), in floats. columns is at most THREADS * GROUPS * 16 bytes.
// The arrays begin at multiples of 16 bytes.
// Like layer_norm_vector.cu without the mean: one sum, so one barrier.
// Limit: memory bandwidth. One read and one write for each element.
// grid (rows), block (THREADS), dynamic shared 0

#include "row_kept.cuh"

#ifndef ELEMENT
#define ELEMENT float
#endif
#ifndef THREADS
#define THREADS 128
#endif
#ifndef GROUPS
#define GROUPS 8 // of 16 bytes that a thread keeps
#endif
#ifndef BLOCKS
#define BLOCKS 1 // that an SM is to have room for
#endif

constexpr int kEach = kWidth<ELEMENT>;

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    rms_norm(const ELEMENT *x, const ELEMENT *gamma, ELEMENT *y, float *rstd, int columns,
             float eps)
{
    __shared__ float of_warp[THREADS / kWarpSize];
    long long start = (long long)blockIdx.x * columns;
    float part[GROUPS][kEach];
    load_values_kept<THREADS>(part, x + start, columns);
    float squares = 0.0f;
#pragma unroll
    for (int k = 0; k < GROUPS; ++k) {
#pragma unroll
        for (int j = 0; j < kEach; ++j) {
            squares += part[k][j] * part[k][j];
        }
    }
    float scale = rsqrtf(block_total<THREADS>(squares, of_warp) / columns + eps);
#pragma unroll
    for (int k = 0; k < GROUPS; ++k) {
        float factors[kEach];
        int column = column_of_group<ELEMENT, THREADS>(k);
        unpack(factors, load_row_16_bytes(gamma, column, columns, true));
#pragma unroll
        for (int j = 0; j < kEach; ++j) {
            part[k][j] *= scale * factors[j];
        }
    }
    keep_values<THREADS>(y + start, part, columns);
    if (threadIdx.x == 0) {
        rstd[blockIdx.x] = scale;
    }
}
