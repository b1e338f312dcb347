// y = A x for a row-major fp32 matrix A of M x K: y[row] is the product of a row of A and x. A and
// x begin at multiples of 16 bytes.
// Adds to gemv_vector.cu: a warp takes ROWS rows, and the source asks for LOADS pieces of each
// before it adds up the first. A piece of x, once loaded, serves all of these rows.
// Limit: memory bandwidth where the rows are warps enough. With few rows most of the GPU is idle.
// grid (ceil(M / (THREADS / 32 * ROWS))), block (THREADS), dynamic shared 0

#include "reduce.cuh"

#ifndef THREADS
#define THREADS 128
#endif
#ifndef ROWS
#define ROWS 2
#endif
#ifndef LOADS
#define LOADS 4
#endif

constexpr int kWarps = THREADS / kWarpSize; // of a block

__device__ inline float dot(float a, float b)
{
    return a * b;
}

__device__ inline float dot(float4 a, float4 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

// Add to sum[r] the lane's products of row r and x, each of `count` pieces of type T.
template <typename T>
__device__ inline void add_products(float (&sum)[ROWS], const float *const (&row)[ROWS],
                                    const float *x, int count)
{
    const T *pieces[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        pieces[r] = reinterpret_cast<const T *>(row[r]);
    }
    const T *pieces_x = reinterpret_cast<const T *>(x);
    int k = threadIdx.x % kWarpSize;
    for (; k + (LOADS - 1) * kWarpSize < count; k += LOADS * kWarpSize) {
        T a[ROWS][LOADS];
#pragma unroll
        for (int load = 0; load < LOADS; ++load) {
#pragma unroll
            for (int r = 0; r < ROWS; ++r) {
                a[r][load] = __ldcs(pieces[r] + k + load * kWarpSize); // used once
            }
        }
#pragma unroll
        for (int load = 0; load < LOADS; ++load) {
            T four = pieces_x[k + load * kWarpSize];
#pragma unroll
            for (int r = 0; r < ROWS; ++r) {
                sum[r] += dot(a[r][load], four);
            }
        }
    }
    for (; k < count; k += kWarpSize) { // fewer than LOADS are left
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            sum[r] += dot(pieces[r][k], pieces_x[k]);
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    gemv_in_flight(const float *A, const float *x, float *y, int M, int K)
{
    int first = (blockIdx.x * kWarps + threadIdx.x / kWarpSize) * ROWS;
    if (first >= M) {
        return; // the whole warp
    }
    const float *row[ROWS];
    float sum[ROWS] = {};
#pragma unroll
    for (int r = 0; r < ROWS; ++r) { // past the last row, that one again
        row[r] = A + (long long)min(first + r, M - 1) * K;
    }
    if (K % 4 == 0) { // then every row begins at a multiple of 16 bytes
        add_products<float4>(sum, row, x, K / 4);
    } else {
        add_products<float>(sum, row, x, K);
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        sum[r] = warp_sum(sum[r]);
        if (threadIdx.x % kWarpSize == 0 && first + r < M) {
            y[first + r] = sum[r];
        }
    }
}
