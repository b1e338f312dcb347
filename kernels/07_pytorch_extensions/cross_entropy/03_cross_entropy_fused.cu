// Cross entropy and its gradient, of rows x columns of logits of ELEMENT, float or bf16, with sums
// of floats: loss = logsumexp of the row - x[target], and dx = weight * (softmax - 1 at the target).
// Both are 0 for a row whose target is `ignored`; a target that does not exist makes the loss NaN.
// dx may be x. columns is at most THREADS * GROUPS * CLUSTER * 16 bytes; the arrays begin at
// multiples of 16 bytes.
// Adds to cross_entropy_backward.cu: the way forward and the way back in one kernel, since the
// gradient of a loss that is only scaled needs nothing from later layers. The row stays in the
// registers of a cluster of blocks, as in softmax_async.cu, so a logit is read once and written once.
// Limit: memory bandwidth.
// grid (rows * CLUSTER), block (THREADS), dynamic shared 0

#include "cluster.cuh"
#include "ptx.cuh"
#include "row_values.cuh"
#include "softmax.cuh"
#include "tma.cuh"

#ifndef ELEMENT
#define ELEMENT float
#endif
#ifndef THREADS
#define THREADS 512
#endif
#ifndef GROUPS
#define GROUPS 8 // of 16 bytes that a thread keeps
#endif
#ifndef CLUSTER
#define CLUSTER 8 // blocks that share a row
#endif

constexpr int kEach = kWidth<ELEMENT>;
constexpr int kWarps = THREADS / kWarpSize;
constexpr int kSpan = kEach * THREADS * GROUPS; // of the row: a block's share
static_assert(CLUSTER <= kWarpSize, "a lane writes to each block");

extern "C" __global__ void __cluster_dims__(CLUSTER) __launch_bounds__(THREADS)
    cross_entropy_fused(const ELEMENT *x, const long long *target, const float *weight,
                        ELEMENT *dx, float *loss, int columns, long long ignored)
{
    __shared__ ExpSum of_warp[CLUSTER * kWarps];
    __shared__ __align__(8) unsigned long long all_here;
    int rank = cluster_rank();
    int row = blockIdx.x / CLUSTER;
    long long wanted = target[row];
    long long start = (long long)row * columns;
    float part[GROUPS][kEach];
    // Element 0 of this block's share is column rank * kSpan.
    auto column = [&](int k) { return rank * kSpan + column_of_group<ELEMENT, THREADS>(k); };

    if (threadIdx.x == 0) {
        mbarrier_init(shared_address(&all_here), 1);
        mbarriers_are_ready();
        mbarrier_expect(shared_address(&all_here), sizeof(of_warp));
    }
    cluster_arrive_relaxed(); // this block's mbarrier is made
#pragma unroll
    for (int k = 0; k < GROUPS; ++k) {
        unpack(part[k], load_row_16_bytes(x + start, column(k), columns, true));
    }
    float largest = kLowest;
#pragma unroll
    for (int k = 0; k < GROUPS; ++k) {
#pragma unroll
        for (int j = 0; j < kEach; ++j) {
            if (column(k) + j >= columns) {
                part[k][j] = __int_as_float(0xff800000); // minus infinity adds nothing
            }
            largest = fmaxf(largest, part[k][j]);
        }
    }
    bool is_mine = false; // the target
    float found = 0.0f;   // its logit
    ExpSum mine = {largest, 0.0f};
#pragma unroll
    for (int k = 0; k < GROUPS; ++k) {
        int place = static_cast<int>(wanted) - column(k);
        bool here = 0 <= wanted && wanted < columns && 0 <= place && place < kEach;
#pragma unroll
        for (int j = 0; j < kEach; ++j) {
            found = here && place == j ? part[k][j] : found;
            part[k][j] = expf(part[k][j] - largest);
            mine.sum += part[k][j];
        }
        is_mine |= here;
    }
    ExpSum warps = warp_merged(mine);
    int lane = threadIdx.x % kWarpSize;
    unsigned slot = shared_address(of_warp + rank * kWarps + threadIdx.x / kWarpSize);
    cluster_wait(); // every block's mbarrier is made
    if (lane < CLUSTER) {
        store_async_2(address_in_block(slot, lane), warps.largest, warps.sum,
                      address_in_block(shared_address(&all_here), lane));
    }
    mbarrier_wait(shared_address(&all_here), 0); // all warps' sums have come

    ExpSum all = warp_merged(of_warp, CLUSTER * kWarps);
    bool counts = wanted != ignored;
    float scale = counts ? *weight : 0.0f;
    float to_gradient = scale * expf(mine.largest - all.largest) / all.sum;
#pragma unroll
    for (int k = 0; k < GROUPS; ++k) {
        int place = static_cast<int>(wanted) - column(k);
#pragma unroll
        for (int j = 0; j < kEach; ++j) {
            part[k][j] = counts ? part[k][j] * to_gradient : 0.0f;
            if (is_mine && place == j) {
                part[k][j] -= scale;
            }
        }
        store_row_16_bytes(dx + start, column(k), columns, packed(part[k]));
    }
    bool exists = 0 <= wanted && wanted < columns;
    if (is_mine || (!exists && rank == 0 && threadIdx.x == 0)) {
        float of_row = all.largest + logf(all.sum);
        float of_target = exists ? found : __int_as_float(0x7fc00000);
        loss[row] = counts ? of_row - of_target : 0.0f;
    }
}
