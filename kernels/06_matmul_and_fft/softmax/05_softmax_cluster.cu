// y = softmax of each row of x, rows x columns of fp32: exp(x - largest), divided by the row's sum.
// columns is at most 4 * THREADS * GROUPS * CLUSTER; x and y begin at multiples of 16 bytes.
// Adds to softmax_vector.cu: a cluster of blocks shares a long row. Each warp writes its sum into
// the shared memory of every block of the cluster; the barrier of the cluster is the only one that
// a warp waits for after its loads.
// Limit: memory bandwidth. One read and one write for each element.
// grid (rows * CLUSTER), block (THREADS), dynamic shared 0

#include "cluster.cuh"
#include "ptx.cuh"
#include "row_part.cuh"
#include "softmax.cuh"

#ifndef THREADS
#define THREADS 512
#endif
#ifndef GROUPS
#define GROUPS 4 // of four elements that a thread keeps
#endif
#ifndef CLUSTER
#define CLUSTER 4 // blocks that share a row
#endif

constexpr int kWarps = THREADS / kWarpSize;
constexpr int kSpan = 4 * THREADS * GROUPS; // of the row: a block's share
static_assert(CLUSTER <= kWarpSize, "a lane writes to each block");

extern "C" __global__ void __cluster_dims__(CLUSTER) __launch_bounds__(THREADS)
    softmax_cluster(const float *x, float *y, int columns)
{
    __shared__ ExpSum of_warp[CLUSTER * kWarps];
    cluster_arrive(); // this block has started
    int rank = cluster_rank();
    long long start = (long long)(blockIdx.x / CLUSTER) * columns + rank * kSpan;
    int count = columns - rank * kSpan; // 0 or less where the row ends before the block's share
    bool fours = columns % 4 == 0;      // then every row begins at a multiple of 16 bytes
    float part[GROUPS][4];
    load_part<THREADS>(part, x + start, count, fours, __int_as_float(0xff800000));

    ExpSum mine = exponentials(part);
    ExpSum warps = warp_merged(mine);
    int lane = threadIdx.x % kWarpSize;
    unsigned place = shared_address(of_warp + rank * kWarps + threadIdx.x / kWarpSize);
    cluster_wait(); // every block has started: its shared memory is there
    if (lane < CLUSTER) {
        store_cluster_2(address_in_block(place, lane), warps.largest, warps.sum);
    }
    cluster_arrive();
    cluster_wait(); // all warps' sums are in this block's shared memory

    ExpSum all = warp_merged(of_warp, CLUSTER * kWarps);
    scale_part(part, expf(mine.largest - all.largest) / all.sum);
    store_part<THREADS>(y + start, part, count, fours);
}
