// y = softmax of each row of x, rows x columns of fp32: exp(x - largest), divided by the row's sum.
// columns is at most 4 * THREADS * GROUPS * CLUSTER, less 3 if it is no multiple of 4; x and y
// begin at multiples of 16 bytes.
// Adds to softmax_cluster.cu: no barrier of the cluster between loads and stores, and no fence. A
// warp's sum is sent (st.async), and an mbarrier in each block counts the bytes that have come.
// Limit: memory bandwidth. One read and one write for each element.
// grid (rows * CLUSTER), block (THREADS), dynamic shared 0

#include "cluster.cuh"
#include "ptx.cuh"
#include "row_part.cuh"
#include "softmax.cuh"
#include "tma.cuh"

#ifndef THREADS
#define THREADS 512
#endif
#ifndef GROUPS
#define GROUPS 8 // of four elements that a thread keeps
#endif
#ifndef CLUSTER
#define CLUSTER 8 // blocks that share a row
#endif

constexpr int kWarps = THREADS / kWarpSize;
constexpr int kSpan = 4 * THREADS * GROUPS; // of the row: a block's share
static_assert(CLUSTER <= kWarpSize, "a lane writes to each block");

extern "C" __global__ void __cluster_dims__(CLUSTER) __launch_bounds__(THREADS)
    softmax_async(const float *x, float *y, int columns)
{
    __shared__ ExpSum of_warp[CLUSTER * kWarps];
    __shared__ __align__(8) unsigned long long all_here;
    if (threadIdx.x == 0) {
        mbarrier_init(shared_address(&all_here), 1);
        mbarriers_are_ready();
        mbarrier_expect(shared_address(&all_here), sizeof(of_warp));
    }
    cluster_arrive_relaxed(); // this block's mbarrier is made
    int rank = cluster_rank();
    const float *row = x + (long long)(blockIdx.x / CLUSTER) * columns;
    int shift = past_aligned(row); // where the row begins, after a multiple of 16 bytes
    long long first = row - x - shift + rank * kSpan; // in x
    int begin = shift - rank * kSpan;
    int end = begin + columns; // 0 or less where the row ends before the block's share
    float part[GROUPS][4];
    load_part<THREADS>(part, x + first, begin, end, __int_as_float(0xff800000));

    ExpSum mine = exponentials(part, largest_of(part));
    ExpSum warps = warp_merged(mine);
    int lane = threadIdx.x % kWarpSize;
    unsigned place = shared_address(of_warp + rank * kWarps + threadIdx.x / kWarpSize);
    cluster_wait(); // every block's mbarrier is made
    if (lane < CLUSTER) {
        store_async_2(address_in_block(place, lane), warps.largest, warps.sum,
                      address_in_block(shared_address(&all_here), lane));
    }
    mbarrier_wait(shared_address(&all_here), 0); // all warps' sums have come

    ExpSum all = warp_merged(of_warp, CLUSTER * kWarps);
    scale_part(part, expf(mine.largest - all.largest) / all.sum);
    store_part<THREADS>(y + first, part, begin, end);
}
