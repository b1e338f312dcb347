// Cross entropy and its gradient, of rows x columns of logits of ELEMENT, float or bf16, with sums
// of floats: loss = logsumexp of the row - x[target], and dx = weight * (softmax - 1 at the
// target). Both are 0 for a row whose target is `ignored`, whatever is in it; a target that does
// not exist makes the loss NaN. dx may be x. columns is at most THREADS * GROUPS * CLUSTER * 16
// bytes; the arrays begin at multiples of 16 bytes.
// Adds to cross_entropy_backward.cu: the way forward and the way back in one kernel, since the
// gradient of a loss that is only scaled needs nothing from later layers. The row stays in the
// shared memory of a cluster of blocks, which send each other their sums as in softmax_async.cu, so
// a logit is read once and written once. Registers would hold fp32 as well, but bf16 only at the
// price of as much room as fp32. Here it stays as narrow as it came, and more blocks have room.
// Limit: memory bandwidth.
// grid (rows * CLUSTER), block (THREADS), dynamic shared 16 * THREADS * GROUPS

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
#define GROUPS 8 // of 16 bytes that a thread copies
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
    extern __shared__ uint4 kept[]; // [GROUPS][THREADS]: a thread reads what it copied
    __shared__ ExpSum of_warp[CLUSTER * kWarps];
    __shared__ __align__(8) unsigned long long all_here;
    int rank = cluster_rank();
    int row = blockIdx.x / CLUSTER;
    const ELEMENT *from = x + (long long)row * columns;
    ELEMENT *to = dx + (long long)row * columns;
    long long wanted = target[row];
    float scale = *weight;
    bool exists = 0 <= wanted && wanted < columns;
    bool whole = columns % kEach == 0; // rows begin at multiples of 16 bytes
    auto column = [&](int k) { return rank * kSpan + column_of_group<ELEMENT, THREADS>(k); };
    auto store = [&](int k, uint4 chunk) { // no cache hint, unlike store_row_16_bytes: faster here
        if (whole && column(k) < columns) {
            *reinterpret_cast<uint4 *>(to + column(k)) = chunk;
        } else {
            store_row_16_bytes(to, column(k), columns, chunk);
        }
    };
    auto values = [&](float(&part)[kEach], int k) { // minus infinity past the end adds nothing
        bool copied = whole && column(k) < columns;
        unpack(part, copied ? kept[k * THREADS + threadIdx.x]
                            : load_row_16_bytes(from, column(k), columns, true));
        if (column(k) + kEach > columns) {
#pragma unroll
            for (int j = 0; j < kEach; ++j) {
                part[j] = column(k) + j < columns ? part[j] : __int_as_float(0xff800000);
            }
        }
    };

#pragma unroll
    for (int k = 0; k < GROUPS; ++k) {
        if (whole && column(k) < columns) {
            cp_async_16(shared_address(kept + k * THREADS + threadIdx.x), from + column(k));
        }
    }
    cp_async_commit();
    // Only now is anything waited for: with the row on its way, the target costs no time.
    if (wanted == ignored) { // all blocks of the cluster agree
        cp_async_wait<0>();
        for (int k = 0; k < GROUPS; ++k) {
            store(k, make_uint4(0, 0, 0, 0));
        }
        if (rank == 0 && threadIdx.x == 0) {
            loss[row] = 0.0f;
        }
        return;
    }
    if (threadIdx.x == 0) {
        mbarrier_init(shared_address(&all_here), 1);
        mbarriers_are_ready();
        mbarrier_expect(shared_address(&all_here), sizeof(of_warp));
    }
    cluster_arrive_relaxed(); // this block's mbarrier is made
    // The thread that has the target's logit reads it once more, and only it will write there.
    int place = static_cast<int>(wanted) - rank * kSpan;
    bool is_mine = exists && 0 <= place && place < kSpan && place / kEach % THREADS == threadIdx.x;
    float found = is_mine ? float(from[wanted]) : 0.0f;

    cp_async_wait<0>();
    float part[kEach];
    ExpSum mine = {kLowest, 0.0f};
#pragma unroll 4
    for (int k = 0; k < GROUPS; ++k) {
        values(part, k);
#pragma unroll
        for (int j = 0; j < kEach; ++j) {
            mine.largest = fmaxf(mine.largest, part[j]);
        }
    }
#pragma unroll 4
    for (int k = 0; k < GROUPS; ++k) {
        values(part, k);
#pragma unroll
        for (int j = 0; j < kEach; ++j) {
            mine.sum += __expf(part[j] - mine.largest);
        }
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
    float to_gradient = scale / all.sum;
#pragma unroll 4
    for (int k = 0; k < GROUPS; ++k) {
        values(part, k);
#pragma unroll
        for (int j = 0; j < kEach; ++j) {
            part[j] = to_gradient * __expf(part[j] - all.largest);
        }
        store(k, packed(part));
    }
    if (is_mine) {
        float probability = __expf(found - all.largest) / all.sum;
        to[wanted] = ELEMENT(scale * (probability - 1.0f));
        loss[row] = logf(all.sum) - (found - all.largest);
    }
    if (!exists && rank == 0 && threadIdx.x == 0) {
        loss[row] = __int_as_float(0x7fc00000);
    }
}
