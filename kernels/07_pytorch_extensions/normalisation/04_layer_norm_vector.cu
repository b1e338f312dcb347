// y = (x - mean) * rstd * gamma + beta for each row of x, rows x columns of ELEMENT, float or bf16,
// where rstd is 1 / sqrt(variance + eps); all sums are of floats. columns is at most
// THREADS * GROUPS * 16 bytes. The arrays begin at multiples of 16 bytes.
// Adds to layer_norm_registers.cu: 16 bytes a load and a store, which is four floats or eight bf16,
// and a hint for L2 with each load.
// Limit: memory bandwidth. One read and one write for each element; gamma and beta are in the
// cache.
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
    layer_norm_vector(const ELEMENT *x, const ELEMENT *gamma, const ELEMENT *beta, ELEMENT *y,
                      float *mean, float *rstd, int columns, float eps)
{
    __shared__ float of_warp[2][THREADS / kWarpSize];
    long long start = (long long)blockIdx.x * columns;
    float part[GROUPS][kEach];
    load_values_kept<THREADS>(part, x + start, columns);
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < GROUPS; ++k) {
#pragma unroll
        for (int j = 0; j < kEach; ++j) {
            sum += part[k][j];
        }
    }
    float center = block_total<THREADS>(sum, of_warp[0]) / columns;
    float squares = 0.0f;
#pragma unroll
    for (int k = 0; k < GROUPS; ++k) {
#pragma unroll
        for (int j = 0; j < kEach; ++j) {
            bool there = column_of_group<ELEMENT, THREADS>(k) + j < columns;
            part[k][j] -= center;
            squares += there ? part[k][j] * part[k][j] : 0.0f;
        }
    }
    float scale = rsqrtf(block_total<THREADS>(squares, of_warp[1]) / columns + eps);
#pragma unroll
    for (int k = 0; k < GROUPS; ++k) {
        int column = column_of_group<ELEMENT, THREADS>(k);
        float factors[kEach], offsets[kEach];
        unpack(factors, load_row_16_bytes(gamma, column, columns, true));
        unpack(offsets, load_row_16_bytes(beta, column, columns, true));
#pragma unroll
        for (int j = 0; j < kEach; ++j) {
            part[k][j] = part[k][j] * scale * factors[j] + offsets[j];
        }
    }
    keep_values<THREADS>(y + start, part, columns);
    if (threadIdx.x == 0) {
        mean[blockIdx.x] = center;
        rstd[blockIdx.x] = scale;
    }
}
