// y = A^T x for a row-major fp32 matrix A of M x K: y[column] is the product of a column and x. y
// is zero before the launch.
// The idea: a thread keeps one column, so that the lanes of a warp read neighbours. A block adds up
// BAND rows, and blocks that share columns meet in an atomicAdd: their order is not fixed.
// Limit: memory bandwidth. Four bytes are read for each FMA.
// grid (ceil(K / 256), ceil(M / BAND)), block (256), dynamic shared 0

#ifndef BAND
#define BAND 64
#endif

constexpr int kLoads = 8; // in flight at a time

extern "C" __global__ void gemv_transposed(const float *A, const float *x, float *y, int M, int K)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= K) {
        return;
    }
    int row = blockIdx.y * BAND;
    int end = min(row + BAND, M);
    float sum = 0.0f;
    for (; row + kLoads <= end; row += kLoads) {
        float a[kLoads];
#pragma unroll
        for (int load = 0; load < kLoads; ++load) {
            a[load] = A[(long long)(row + load) * K + column];
        }
#pragma unroll
        for (int load = 0; load < kLoads; ++load) {
            sum += a[load] * x[row + load];
        }
    }
    for (; row < end; ++row) {
        sum += A[(long long)row * K + column] * x[row];
    }
    atomicAdd(y + column, sum);
}
