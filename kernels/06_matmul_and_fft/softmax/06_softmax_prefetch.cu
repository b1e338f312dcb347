// y = softmax of each row of x, rows x columns of fp32: exp(x - largest), divided by the row's sum.
// columns is at most 4 * THREADS * GROUPS * CLUSTER; x and y begin at multiples of 16 bytes.
// Adds to softmax_cluster.cu: as many clusters as the GPU holds, each with row after row. Copies of
// the next STAGES rows are in flight (cp.async) while this one is added up and stored. A thread reads
// what it copied itself, so its copies need no barrier.
// Limit: memory bandwidth. One read and one write for each element.
// grid (clusters * CLUSTER), block (THREADS), dynamic shared STAGES * GROUPS * THREADS * 16

#include "cluster.cuh"
#include "ptx.cuh"
#include "row_part.cuh"
#include "softmax.cuh"

#ifndef THREADS
#define THREADS 1024
#endif
#ifndef GROUPS
#define GROUPS 8 // of four elements that a thread keeps
#endif
#ifndef CLUSTER
#define CLUSTER 1 // blocks that share a row
#endif
#ifndef STAGES
#define STAGES 1 // rows that are on their way
#endif
#ifndef BLOCKS
#define BLOCKS 1 // that share a multiprocessor: caps the registers
#endif

constexpr int kWarps = THREADS / kWarpSize;
constexpr int kSpan = 4 * THREADS * GROUPS; // of the row: a block's share
static_assert(CLUSTER <= kWarpSize, "a lane writes to each block");

// Start the thread's copies of its part of a row to `stage`; the counterpart of load_part.
__device__ inline void copy_part(unsigned stage, const float *row, int count, bool fours)
{
#pragma unroll
    for (int k = 0; k < GROUPS; ++k) {
        if (fours) {
            int i = place_in_row<THREADS, true>(k, 0);
            if (i < count) {
                cp_async_16(stage + i * 4, row + i);
            }
            continue;
        }
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            int i = place_in_row<THREADS, false>(k, j);
            if (i < count) {
                cp_async_4(stage + i * 4, row + i);
            }
        }
    }
}

extern "C" __global__ void __cluster_dims__(CLUSTER) __launch_bounds__(THREADS, BLOCKS)
    softmax_prefetch(const float *x, float *y, int rows, int columns)
{
    extern __shared__ __align__(16) float stages[];
    __shared__ ExpSum of_warp[2][CLUSTER * kWarps]; // of this row, and of the one before
    cluster_arrive();                               // this block has started
    int rank = cluster_rank();
    int lane = threadIdx.x % kWarpSize;
    int warp = threadIdx.x / kWarpSize;
    int clusters = gridDim.x / CLUSTER;
    int count = columns - rank * kSpan; // 0 or less where the row ends before the block's share
    bool fours = columns % 4 == 0;      // then every row begins at a multiple of 16 bytes
    x += rank * kSpan;
    y += rank * kSpan;

    int row = blockIdx.x / CLUSTER;
    for (int stage = 0; stage < STAGES; ++stage) {
        long long ahead = row + (long long)stage * clusters;
        if (ahead < rows) {
            copy_part(shared_address(stages + stage * kSpan), x + ahead * columns, count, fours);
        }
        cp_async_commit();
    }
    cluster_wait(); // every block has started: its shared memory is there

    int stage = 0;
    for (int turn = 0; row < rows; row += clusters, turn ^= 1) {
        float part[GROUPS][4];
        cp_async_wait<STAGES - 1>();
        load_part<THREADS, false>(part, stages + stage * kSpan, count, fours,
                                  __int_as_float(0xff800000));
        ExpSum mine = exponentials(part);
        long long ahead = row + (long long)STAGES * clusters;
        if (ahead < rows) {
            copy_part(shared_address(stages + stage * kSpan), x + ahead * columns, count, fours);
        }
        cp_async_commit();
        stage = stage + 1 < STAGES ? stage + 1 : 0;

        ExpSum warps = warp_merged(mine);
        if (lane < CLUSTER) {
            unsigned place = shared_address(of_warp[turn] + rank * kWarps + warp);
            store_cluster_2(address_in_block(place, lane), warps.largest, warps.sum);
        }
        cluster_arrive();
        cluster_wait(); // all warps' sums are in this block's shared memory
        ExpSum all = warp_merged(of_warp[turn], CLUSTER * kWarps);
        scale_part(part, expf(mine.largest - all.largest) / all.sum);
        store_part<THREADS>(y + (long long)row * columns, part, count, fours);
    }
}
