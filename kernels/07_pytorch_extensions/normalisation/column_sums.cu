// The second stage of sums down the columns: `parts` rows of `columns` floats are added up, to
// `sums` in ELEMENT, float or bf16. The order of the additions is fixed.
// The idea: a block takes 32 columns and its eight warps share the rows, as in
// layer_norm_backward_columns.cu; here the rows are few, and still in the L2 cache.
// Limit: latency. A few loads one after another.
// grid (ceil(columns / 32)), block (256), dynamic shared 0

#include <cuda_bf16.h>

#ifndef ELEMENT
#define ELEMENT float
#endif

constexpr int kColumns = 32;
constexpr int kBands = 8;

extern "C" __global__ void column_sums(const float *partial, ELEMENT *sums, int parts, int columns)
{
    __shared__ float of_band[kBands][kColumns];
    int column = blockIdx.x * kColumns + threadIdx.x % kColumns;
    int band = threadIdx.x / kColumns;
    float sum = 0.0f;
    if (column < columns) {
#pragma unroll 8
        for (int part = band; part < parts; part += kBands) {
            sum += partial[(long long)part * columns + column];
        }
    }
    of_band[band][threadIdx.x % kColumns] = sum;
    __syncthreads(); // all bands are there
    if (band == 0 && column < columns) {
        for (int other = 1; other < kBands; ++other) {
            sum += of_band[other][threadIdx.x];
        }
        sums[column] = ELEMENT(sum);
    }
}
