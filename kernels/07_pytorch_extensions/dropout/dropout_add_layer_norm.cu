// z = residual + dropout(x), and y = the layer normalisation of z, rows x columns of fp32, columns
// a multiple of 4 and at most THREADS * GROUPS * 4. The arrays begin at multiples of 16 bytes.
// Group g of four elements of x takes the numbers of subsequence g of Philox from `offset` on.
// Adds to layer_norm_vector.cu and philox_dropout.cu: the three steps between two products of a
// transformer in one. Two reads and two writes of each element in place of four and three.
// Limit: memory bandwidth.
// grid (rows), block (THREADS), dynamic shared 0

#include "philox.cuh"
#include "row_values.cuh"

#ifndef THREADS
#define THREADS 256
#endif
#ifndef GROUPS
#define GROUPS 4 // of four elements that a thread keeps
#endif

extern "C" __global__ void __launch_bounds__(THREADS)
    dropout_add_layer_norm(const float *x, const float *residual, const float *gamma,
                           const float *beta, float *z, float *y, float *mean, float *rstd,
                           float keep, unsigned long long seed, unsigned long long offset,
                           int columns, float eps)
{
    __shared__ float of_warp[2][THREADS / kWarpSize];
    long long start = (long long)blockIdx.x * columns;
    float part[GROUPS][4], stays[GROUPS][4];
    load_values<THREADS>(part, x + start, columns);
    load_values<THREADS>(stays, residual + start, columns);
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < GROUPS; ++k) {
        long long group = (start + column_of_group<float, THREADS>(k)) / 4;
        float factors[4];
        dropout_factors(factors, philox(seed, group, offset / 4), keep);
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            part[k][j] = stays[k][j] + part[k][j] * factors[j];
            sum += part[k][j];
        }
    }
    store_values<THREADS>(z + start, part, columns);
    float center = block_total<THREADS>(sum, of_warp[0]) / columns;
    float squares = 0.0f;
#pragma unroll
    for (int k = 0; k < GROUPS; ++k) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            bool there = column_of_group<float, THREADS>(k) + j < columns;
            part[k][j] -= center;
            squares += there ? part[k][j] * part[k][j] : 0.0f;
        }
    }
    float scale = rsqrtf(block_total<THREADS>(squares, of_warp[1]) / columns + eps);
#pragma unroll
    for (int k = 0; k < GROUPS; ++k) {
        int column = column_of_group<float, THREADS>(k);
        float factors[4], offsets[4];
        unpack(factors, load_row_16_bytes(gamma, column, columns, true));
        unpack(offsets, load_row_16_bytes(beta, column, columns, true));
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            part[k][j] = part[k][j] * scale * factors[j] + offsets[j];
        }
    }
    store_values<THREADS>(y + start, part, columns);
    if (threadIdx.x == 0) {
        mean[blockIdx.x] = center;
        rstd[blockIdx.x] = scale;
    }
}
