// The transforms of batch rows of N1 N2 complex points; N1 and N2 are 128 or 256.
// Adds to fft_prefetch: a row too long for one block's shared memory is a cluster's of BLOCKS
// blocks. Four steps: transforms along columns, a factor for each point, an exchange through the
// shared memory of all blocks, transforms along rows. Still each point is read and written once.
// Limit: not found yet. A copy of as many bytes takes half of its time on an H200, and the exchange
// between blocks 13 %.
// grid (batch * BLOCKS), block (N1 * N2 / 16 / BLOCKS), dynamic shared 8 * (N1 / BLOCKS) * (N2 + 1)

#include "cluster.cuh"
#include "fft_lines.cuh"
#include "ptx.cuh"

#ifndef N1
#define N1 128
#endif
#ifndef N2
#define N2 256
#endif
#ifndef BLOCKS
#define BLOCKS 8
#endif

constexpr int kHeld = 16; // points a thread
constexpr int kThreads = N1 * N2 / kHeld / BLOCKS;
constexpr int kColumns = N2 / BLOCKS; // of this block, first
constexpr int kRows = N1 / BLOCKS;    // of this block, then
constexpr int kStride = N2 + 1;       // of a row in shared memory
constexpr int kStep1 = N1 / kHeld;    // between the points of a thread, along a column
constexpr int kStep2 = N2 / kHeld;    // along a row

// At most four blocks of 256 threads share a multiprocessor: this caps the registers at 64.
extern "C" __global__ void __cluster_dims__(BLOCKS, 1, 1)
    __launch_bounds__(kThreads, 1024 / kThreads) fft_cluster(const float2 *in, float2 *out)
{
    extern __shared__ float2 shared[];
    int rank = blockIdx.x % BLOCKS; // of the block in its cluster
    size_t first = (size_t)(blockIdx.x / BLOCKS) * (N1 * N2);
    in += first;
    out += first;
    float2 v[kHeld];

    int line = threadIdx.x % kColumns, u = threadIdx.x / kColumns;
    int column = rank * kColumns + line;
#pragma unroll
    for (int m = 0; m < kHeld; ++m) {
        v[m] = in[(u + kStep1 * m) * N2 + column];
    }
    transform_lines<N1, kColumns>(v, u, line, shared);
    cluster_arrive(); // this thread needs its block's shared memory no more
    factors_between<N1 * N2, kStep1>(v, u, column);
    cluster_wait();
#pragma unroll
    for (int m = 0; m < kHeld; ++m) { // row u + kStep1 m belongs to block m BLOCKS / 16
        float2 *here = shared + (u + kStep1 * m) % kRows * kStride + column;
        unsigned there = address_in_block(shared_address(here), m * BLOCKS / kHeld);
        store_cluster_2(there, v[m].x, v[m].y);
    }
    cluster_arrive();
    cluster_wait();

    line = threadIdx.x % kRows;
    u = threadIdx.x / kRows;
#pragma unroll
    for (int m = 0; m < kHeld; ++m) {
        v[m] = shared[line * kStride + u + kStep2 * m];
    }
    __syncthreads();
    transform_lines<N2, kRows>(v, u, line, shared);
#pragma unroll
    for (int m = 0; m < kHeld; ++m) {
        out[rank * kRows + line + N1 * (u + kStep2 * m)] = v[m];
    }
}
