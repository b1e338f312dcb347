// dgamma and dbeta of a layer normalisation: the sums over all rows of dy * (x - mean) * rstd and
// of dy, for rows x columns of fp32.
// The idea: the sums that go down the columns have a kernel of their own, which reads x and dy once
// more. A block takes 32 columns; its eight warps share the rows.
// Limit: traffic, and few blocks where columns are few.
// grid (ceil(columns / 32)), block (256), dynamic shared 0

constexpr int kColumns = 32;
constexpr int kBands = 8;

extern "C" __global__ void layer_norm_backward_columns(const float *dy, const float *x,
                                                       const float *mean, const float *rstd,
                                                       float *dgamma, float *dbeta, int rows,
                                                       int columns)
{
    __shared__ float of_band[2][kBands][kColumns];
    int column = blockIdx.x * kColumns + threadIdx.x % kColumns;
    int band = threadIdx.x / kColumns;
    float factors = 0.0f, offsets = 0.0f;
    if (column < columns) {
        for (int row = band; row < rows; row += kBands) {
            long long i = (long long)row * columns + column;
            factors += dy[i] * (x[i] - mean[row]) * rstd[row];
            offsets += dy[i];
        }
    }
    of_band[0][band][threadIdx.x % kColumns] = factors;
    of_band[1][band][threadIdx.x % kColumns] = offsets;
    __syncthreads(); // all bands are there
    if (band == 0 && column < columns) {
        for (int other = 1; other < kBands; ++other) {
            factors += of_band[0][other][threadIdx.x];
            offsets += of_band[1][other][threadIdx.x];
        }
        dgamma[column] = factors;
        dbeta[column] = offsets;
    }
}
