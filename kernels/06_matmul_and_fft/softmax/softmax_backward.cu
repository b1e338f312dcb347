// The gradient of softmax: dx = y (dy - sum of dy y over the row), rows x columns of fp32; y is
// what softmax gave. columns is at most 4 * THREADS * GROUPS * CLUSTER, less 3 if it is no multiple
// of 4; the arrays begin at multiples of 16 bytes.
// The idea: as softmax_async.cu does, the row's y and dy stay in registers, each read once, and the
// blocks of a cluster send each other their sums.
// Limit: memory bandwidth. Two reads and one write for each element: fewer writes than in a copy.
// grid (rows * CLUSTER), block (THREADS), dynamic shared 0

#include "cluster.cuh"
#include "ptx.cuh"
#include "reduce.cuh"
#include "row_part.cuh"
#include "tma.cuh"

#ifndef THREADS
#define THREADS 512
#endif
#ifndef GROUPS
#define GROUPS 2 // of four elements that a thread keeps, of y and of dy
#endif
#ifndef CLUSTER
#define CLUSTER 1 // blocks that share a row
#endif

constexpr int kWarps = THREADS / kWarpSize;
constexpr int kSpan = 4 * THREADS * GROUPS; // of the row: a block's share
static_assert(CLUSTER <= kWarpSize, "a lane writes to each block");

extern "C" __global__ void __cluster_dims__(CLUSTER) __launch_bounds__(THREADS)
    softmax_backward(const float *y, const float *dy, float *dx, int columns)
{
    __shared__ float of_warp[CLUSTER * kWarps];
    __shared__ __align__(8) unsigned long long all_here;
    if (threadIdx.x == 0) {
        mbarrier_init(shared_address(&all_here), 1);
        mbarriers_are_ready();
        mbarrier_expect(shared_address(&all_here), sizeof(of_warp));
    }
    cluster_arrive_relaxed(); // this block's mbarrier is made
    int rank = cluster_rank();
    const float *row = y + (long long)(blockIdx.x / CLUSTER) * columns;
    int shift = past_aligned(row); // where the row begins, after a multiple of 16 bytes
    long long first = row - y - shift + rank * kSpan; // in y
    int begin = shift - rank * kSpan;
    int end = begin + columns; // 0 or less where the row ends before the block's share
    float part[GROUPS][4];
    float part_dy[GROUPS][4];
    load_part<THREADS>(part, y + first, begin, end, 0.0f);
    load_part<THREADS>(part_dy, dy + first, begin, end, 0.0f);

    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < GROUPS; ++k) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            sum += part[k][j] * part_dy[k][j];
        }
    }
    sum = warp_sum(sum);
    int lane = threadIdx.x % kWarpSize;
    unsigned place = shared_address(of_warp + rank * kWarps + threadIdx.x / kWarpSize);
    cluster_wait(); // every block's mbarrier is made
    if (lane < CLUSTER) {
        store_async(address_in_block(place, lane), sum,
                    address_in_block(shared_address(&all_here), lane));
    }
    mbarrier_wait(shared_address(&all_here), 0); // all warps' sums have come

    sum = 0.0f;
    for (int i = lane; i < CLUSTER * kWarps; i += kWarpSize) {
        sum += of_warp[i];
    }
    sum = warp_sum(sum);
#pragma unroll
    for (int k = 0; k < GROUPS; ++k) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            part[k][j] *= part_dy[k][j] - sum;
        }
    }
    store_part<THREADS>(dx + first, part, begin, end);
}
