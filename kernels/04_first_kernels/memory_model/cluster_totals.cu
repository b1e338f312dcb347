// total[b] = the sum of all elements of the cluster of block b: 4 blocks of 128 floats each. x has as
// many elements as the grid has threads.
// The idea: blocks read their neighbours' shared memory, which lives only as long as its block. So
// the cluster meets twice: when all sums are there, and when all have been read.
// Limit: latency. The grid is a multiple of 4 blocks; needs sm_90.
// grid (a multiple of 4), block (128), dynamic shared 0

#include "cluster.cuh"
#include "ptx.cuh"
#include "reduce.cuh"

constexpr int kBlocks = 4, kThreads = 128;

// ld.shared::cluster: a float at an address of address_in_block.
__device__ float load_cluster(unsigned from)
{
    float value;
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(from) : "memory");
    return value;
}

__device__ void cluster_meet()
{
    cluster_arrive();
    cluster_wait();
}

extern "C" __global__ void __cluster_dims__(kBlocks, 1, 1)
    cluster_totals(const float *x, float *total)
{
    __shared__ float sum;
    const float own = block_sum<kThreads>(x[blockIdx.x * kThreads + threadIdx.x]);
    if (threadIdx.x == 0) sum = own;
    cluster_meet(); // all sums are there
    if (threadIdx.x == 0) {
        float of_all = 0.0f;
        for (int rank = 0; rank < kBlocks; ++rank) {
            of_all += load_cluster(address_in_block(shared_address(&sum), rank));
        }
        total[blockIdx.x] = of_all;
    }
    cluster_meet(); // all have been read: a block may end
}
