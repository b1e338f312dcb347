// y = A x for a row-major fp32 matrix A of M x K: y[row] is the product of a row of A and x. A and
// x begin at multiples of 16 bytes.
// Adds to gemv_in_flight.cu: a block takes one row, so that a few hundred rows are under way at
// a time in place of thousands, and few long rows are work for the whole GPU.
// Where K is no multiple of 4, it reads one number a load.
// Limit: memory bandwidth. Four bytes are read for each FMA.
// grid (M), block (THREADS), dynamic shared 0

#include "reduce.cuh"

#ifndef THREADS
#define THREADS 256
#endif
#ifndef LOADS
#define LOADS 8 // that a thread asks for together
#endif

__device__ inline float dot(float a, float b)
{
    return a * b;
}

__device__ inline float dot(float4 a, float4 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

// Add the thread's products of the LOADS * THREADS pieces from `first` on, as far as they exist.
template <bool kAllExist, typename T>
__device__ inline void add_products(float &sum, const T *row, const T *x, int first, int count)
{
    T a[LOADS], b[LOADS];
#pragma unroll
    for (int load = 0; load < LOADS; ++load) {
        int k = first + load * THREADS + threadIdx.x;
        bool exists = kAllExist || k < count;
        a[load] = exists ? row[k] : T{};
        b[load] = exists ? x[k] : T{};
    }
#pragma unroll
    for (int load = 0; load < LOADS; ++load) {
        sum += dot(a[load], b[load]);
    }
}

// The thread's part of the product of a row and x, each of `count` pieces of type T. All threads
// take as many rounds: a lane with one more would keep its warp, and the block, waiting.
template <typename T>
__device__ inline float products(const float *row, const float *x, int count)
{
    const T *pieces = reinterpret_cast<const T *>(row);
    const T *pieces_x = reinterpret_cast<const T *>(x);
    float sum = 0.0f;
    int first = 0;
    for (; first + LOADS * THREADS <= count; first += LOADS * THREADS) {
        add_products<true>(sum, pieces, pieces_x, first, count);
    }
    add_products<false>(sum, pieces, pieces_x, first, count); // fewer are left, or none
    return sum;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    gemv_block(const float *A, const float *x, float *y, int M, int K)
{
    const float *row = A + (long long)blockIdx.x * K;
    float sum = K % 4 == 0 ? products<float4>(row, x, K / 4) // then every row is aligned
                           : products<float>(row, x, K);
    sum = block_sum<THREADS>(sum);
    if (threadIdx.x == 0) {
        y[blockIdx.x] = sum;
    }
}
