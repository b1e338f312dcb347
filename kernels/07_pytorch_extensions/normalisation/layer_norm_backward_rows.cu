// dx of a layer normalisation, rows x columns of fp32: with g = dy * gamma and x^ = (x - mean) *
// rstd it is rstd * (g - mean of g - x^ * mean of g x^), the means over the row. columns is at most
// THREADS * GROUPS * 4; the arrays begin at multiples of 16 bytes.
// The idea: x and dy of a row stay in registers, as in layer_norm_vector.cu.
// Limit: memory bandwidth. layer_norm_backward_columns.cu reads the same arrays once more.
// grid (rows), block (THREADS), dynamic shared 0

#include "row_values.cuh"

#ifndef THREADS
#define THREADS 256
#endif
#ifndef GROUPS
#define GROUPS 4 // of 16 bytes that a thread keeps, of x and of dy
#endif

extern "C" __global__ void __launch_bounds__(THREADS)
    layer_norm_backward_rows(const float *dy, const float *x, const float *gamma,
                             const float *mean, const float *rstd, float *dx, int columns)
{
    __shared__ float of_warp[2][THREADS / kWarpSize];
    long long start = (long long)blockIdx.x * columns;
    float normed[GROUPS][4], gradient[GROUPS][4], factors[4];
    load_values<THREADS>(normed, x + start, columns);
    load_values<THREADS>(gradient, dy + start, columns);
    float center = mean[blockIdx.x], scale = rstd[blockIdx.x];
    float sum = 0.0f, product = 0.0f;
#pragma unroll
    for (int k = 0; k < GROUPS; ++k) {
        int column = column_of_group<float, THREADS>(k);
        unpack(factors, load_row_16_bytes(gamma, column, columns, true));
#pragma unroll
        for (int j = 0; j < 4; ++j) { // past the end of the row the gradient is 0
            normed[k][j] = (normed[k][j] - center) * scale;
            gradient[k][j] *= factors[j];
            sum += gradient[k][j];
            product += gradient[k][j] * normed[k][j];
        }
    }
    sum = block_total<THREADS>(sum, of_warp[0]) / columns;
    product = block_total<THREADS>(product, of_warp[1]) / columns;
#pragma unroll
    for (int k = 0; k < GROUPS; ++k) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            gradient[k][j] = scale * (gradient[k][j] - sum - normed[k][j] * product);
        }
    }
    store_values<THREADS>(dx + start, gradient, columns);
}
