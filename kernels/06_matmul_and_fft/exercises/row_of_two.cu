// y = softmax of each row of x, rows x columns of fp32: exp(x - largest), divided by the row's sum.
// A cluster of two blocks a row, any columns.
// grid (2 * rows), block (256), dynamic shared 0

#include "cluster.cuh"
#include "ptx.cuh"
#include "softmax.cuh"

constexpr int kThreads = 256;
constexpr int kBlocks = 2; // of a cluster

extern "C" __global__ void __cluster_dims__(kBlocks)
    row_of_two(const float *x, float *y, int columns)
{
    __shared__ ExpSum of_block[kBlocks];
    int rank = cluster_rank();
    const float *row = x + (long long)(blockIdx.x / kBlocks) * columns;
    float *out = y + (long long)(blockIdx.x / kBlocks) * columns;

    ExpSum mine = {kLowest, 0.0f}; // of this thread's numbers, and then of this block's
    for (int i = rank * kThreads + threadIdx.x; i < columns; i += kBlocks * kThreads) {
        mine = merged(mine, {row[i], 1.0f});
    }
    mine = block_merged<kThreads>(mine);

    ExpSum all = mine; // of the whole row
    // TODO: write `mine` into of_block[rank] of both blocks, and merge the two. Wait until the
    // other block has started before you reach into it, and until both have written before you read
    // SOLUTION
    cluster_arrive();
    cluster_wait(); // the other block has started
    if (threadIdx.x < kBlocks) {
        unsigned place = shared_address(of_block + rank);
        store_cluster_2(address_in_block(place, threadIdx.x), mine.largest, mine.sum);
    }
    cluster_arrive();
    cluster_wait(); // both have written
    all = merged(of_block[0], of_block[1]);
    // END

    for (int i = rank * kThreads + threadIdx.x; i < columns; i += kBlocks * kThreads) {
        out[i] = expf(row[i] - all.largest) / all.sum;
    }
}
